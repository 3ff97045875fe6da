"""A second reader and writer of growing filters, after FORMAT.md alone. It wrote the golden files beside it:

    python3 growing_v1.py      # needs the package xxhash (Debian: python3-xxhash)

and reads them back. How large the layers are is the writer's choice, and here that of the Go package.
"""

import pathlib
import struct
import xxhash

from format_v1 import container, contains, open_container, probes

MAGIC = bytes([0x89]) + b"BLG\r\n\x1a\n"


def table_size(layers):
    return (32 * layers + 8 + 63) // 64 * 64


class Growing:
    def __init__(self, p, expansion, seed, shapes, most=0):
        """shapes are the (N, k, capacity) of the layers to come; expansion is 0 for a filter that does not scale."""
        self.p, self.expansion, self.seed, self.shapes, self.most = p, expansion, seed, shapes, most
        self.layers = []  # (blocks, k, capacity, items)
        self.next_layer()

    def next_layer(self):
        n, k, capacity = self.shapes[len(self.layers)]
        self.layers.append([bytearray(64 * n), k, capacity, 0])

    def contains(self, key):
        return any(contains(l[0], key, l[1], self.seed) for l in self.layers)

    def add(self, key):
        if self.contains(key):
            return False
        if self.layers[-1][3] == self.layers[-1][2]:
            self.next_layer()
        layer = self.layers[-1]
        block, ps = probes(xxhash.xxh3_64_intdigest(key, self.seed), len(layer[0]) // 64, layer[1])
        for lane, bit in ps:
            layer[0][64 * block + 8 * lane + bit // 8] |= 1 << bit % 8
        layer[3] += 1
        return True

    def bytes(self):
        head = MAGIC + struct.pack("<HBBIQQdQQ", 1, self.expansion == 0, 1, self.expansion, self.seed, len(self.layers), self.p, self.most, 0)
        head += struct.pack("<Q", xxhash.xxh3_64_intdigest(head))
        parts = [container(bytes(blocks), k, self.seed, items) for blocks, k, capacity, items in self.layers]
        table = b""
        for (blocks, k, capacity, items), part in zip(self.layers, parts):
            table += struct.pack("<QQQ", len(blocks) // 64, capacity, items) + part[56:64]
        table += bytes(table_size(len(parts)) - 8 - len(table))
        table += struct.pack("<Q", xxhash.xxh3_64_intdigest(head + table))
        return head + table + b"".join(parts)


def open_growing(data):
    """The (blocks, k, capacity, items) of the layers, and the seed."""
    assert len(data) >= 64 and data[:8] == MAGIC
    version, fixed, hash_, expansion, seed, count, p, most, zero, head_sum = struct.unpack("<HBBIQQdQQQ", data[8:64])
    assert version == 1 and fixed in (0, 1) and hash_ in (0, 1) and zero == 0 and head_sum == xxhash.xxh3_64_intdigest(data[:56])
    assert 1 <= count <= 1 << 20 and 0 < p < 1 and (fixed and expansion == 0 and count == 1 or not fixed and 1 <= expansion <= 32768)
    at = 64 + table_size(count)
    assert len(data) >= at
    table = data[64:at]
    assert struct.unpack("<Q", table[-8:])[0] == xxhash.xxh3_64_intdigest(data[: at - 8]) and not any(table[32 * count : -8])
    layers = []
    for i in range(count):
        n, capacity, items = struct.unpack("<QQQ", table[32 * i : 32 * i + 24])
        part = data[at : at + 64 * (n + 1)]
        assert 1 <= n <= 1 << 40 and 1 <= capacity <= n << 15 and items <= capacity
        assert part[56:64] == table[32 * i + 24 : 32 * i + 32] and part[11] == hash_
        blocks, k, layer_seed = open_container(part)
        assert layer_seed == seed
        layers.append((blocks, k, capacity, items))
        at += len(part)
    assert at == len(data)
    return layers, seed


if __name__ == "__main__":
    here = pathlib.Path(__file__).parent
    keys = [b"key-%d" % i for i in range(150)]
    for name, g in [
        ("a", Growing(0.8, 3, 0, [(1, 8, 5), (1, 8, 15), (1, 8, 45), (2, 8, 135)])),
        ("b", Growing(1e-4, 0, 0x0123456789ABCDEF, [(5, 8, 100)], 4096)),
        ("c", Growing(1e-5, 1, 1 << 32, [(2, 8, 20), (2, 8, 20), (2, 8, 20), (2, 12, 20), (2, 12, 20)])),
    ]:
        known = [i for i in range(100) if not g.add(keys[i])]
        (here / f"growing-v1-{name}.bin").write_bytes(g.bytes())
        layers, seed = open_growing((here / f"growing-v1-{name}.bin").read_bytes())
        found = [any(contains(l[0], key, l[1], seed) for l in layers) for key in keys]
        assert all(found[:100])
        print(name, len(layers), "layers, not new:", known, "false positives:", [i for i in range(100, 150) if found[i]])
