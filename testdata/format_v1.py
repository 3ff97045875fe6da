"""A second reader and writer of version 1, after FORMAT.md alone. It wrote the golden files beside it:

    python3 format_v1.py      # needs the package xxhash (Debian: python3-xxhash)

and reads them back. Keys are the prefix and a decimal number, as in layout-v1.jsonl.
"""

import pathlib
import struct
import xxhash

MASK = (1 << 64) - 1
MAGIC = bytes([0x89]) + b"BLK\r\n\x1a\n"


def probes(h, n, k):
    """The block and the (lane, bit) pairs of the hash h."""
    block = h * n >> 64
    p = h * 0x9E3779B97F4A7C15
    g1, r = p & MASK, p >> 64 & 7
    g2 = (g1 ^ g1 >> 32) * 0xC2B2AE3D27D4EB4F & MASK
    bit = lambda g, lane: g >> 8 * lane & 63
    if k <= 8:
        return block, [((r + t) % 8, bit(g1, (r + t) % 8)) for t in range(k)]
    first = [(lane, bit(g1, lane)) for lane in range(8)]
    return block, first + [((r + t) % 8, bit(g2, (r + t) % 8)) for t in range(k - 8)]


def build(keys, n, k, seed):
    blocks = bytearray(64 * n)
    for key in keys:
        block, ps = probes(xxhash.xxh3_64_intdigest(key, seed), n, k)
        for lane, bit in ps:
            blocks[64 * block + 8 * lane + bit // 8] |= 1 << bit % 8
    return bytes(blocks)


def contains(blocks, key, k, seed):
    block, ps = probes(xxhash.xxh3_64_intdigest(key, seed), len(blocks) // 64, k)
    return all(blocks[64 * block + 8 * lane + bit // 8] >> bit % 8 & 1 for lane, bit in ps)


def container(blocks, k, seed, keys=0):
    h = MAGIC + struct.pack("<HBBIQQQQQ", 1, k, 1, 0, seed, len(blocks) // 64, keys, 0, xxhash.xxh3_64_intdigest(blocks))
    return h + struct.pack("<Q", xxhash.xxh3_64_intdigest(h)) + blocks


def open_container(data):
    assert len(data) >= 128 and data[:8] == MAGIC
    version, k, hash_, flags, seed, n, keys, zero, blocks_sum, header_sum = struct.unpack("<HBBIQQQQQQ", data[8:64])
    assert version == 1 and 1 <= k <= 16 and hash_ in (0, 1) and flags == 0 and zero == 0 and 1 <= n <= 1 << 40
    assert len(data) == 64 * (n + 1) and header_sum == xxhash.xxh3_64_intdigest(data[:56]) and blocks_sum == xxhash.xxh3_64_intdigest(data[64:])
    return data[64:], k, seed


def compact(blocks, k):
    return blocks + struct.pack("<BBBBI", 1, k, 1, 0, xxhash.xxh3_64_intdigest(blocks) & 0xFFFFFFFF)


def open_compact(data):
    assert len(data) >= 72 and len(data) % 64 == 8
    version, k, hash_, flags, blocks_sum = struct.unpack("<BBBBI", data[-8:])
    assert version == 1 and 1 <= k <= 16 and hash_ in (0, 1) and flags == 0
    assert blocks_sum == xxhash.xxh3_64_intdigest(data[:-8]) & 0xFFFFFFFF
    return data[:-8], k


if __name__ == "__main__":
    here = pathlib.Path(__file__).parent
    keys = [b"key-%d" % i for i in range(150)]
    for name, n, k, seed in [("a", 3, 8, 0), ("b", 2, 13, 0x0123456789ABCDEF), ("c", 5, 3, 1 << 32)]:
        blocks = build(keys[:100], n, k, seed)
        (here / f"container-v1-{name}.bin").write_bytes(container(blocks, k, seed, 100))
        (here / f"compact-v1-{name}.bin").write_bytes(compact(blocks, k))
        for got in (open_container((here / f"container-v1-{name}.bin").read_bytes())[0], open_compact((here / f"compact-v1-{name}.bin").read_bytes())[0]):
            assert all(contains(got, key, k, seed) for key in keys[:100])
        print(name, n, k, hex(seed), [i for i in range(100, 150) if contains(blocks, keys[i], k, seed)])
