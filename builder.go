package blocked

import (
	"fmt"
	"unsafe"
)

// Builder collects the hashes of keys and makes a filter of them when all are known, with the size that their number asks for: for a writer of tables, who learns at a table's end how many keys
// it has. [NewBuilder] and [NewBuilderBits] make one. It may not be used by several goroutines at once.
//
// While it collects it takes 8 bytes a key, and at most 256 KiB more. Reset keeps that memory, so that one Builder serves table after table. The filter has the bits of one that was made for the
// same geometry and to which the keys were added.
type Builder struct {
	rate       float64 // or 0
	bitsPerKey float64 // or 0
	opts       options
	hasher     Filter // has the seed and no blocks

	chunks [][]uint64 // chunks[:at] are full; those from at on are what Reset kept
	at     int
	cur    []uint64 // chunks[at]; nil before the first hash
	n      int      // hashes in cur
	full   int      // hashes in chunks[:at]
	last   uint64   // the newest hash

	plan planned
}

// planned is the size for a number of keys.
type planned struct {
	valid   bool
	n       int
	g       Geometry
	limited bool
	err     error
}

const (
	firstChunk = 64      // hashes
	largeChunk = 1 << 15 // hashes: a batch that is long enough for prefetching
)

// NewBuilder returns a Builder of filters with false positive rate p, as [Plan] sizes them for the number of keys that come. Like Plan's, sizes for up to 8192 keys
// are remembered for all Builders of the process, by the number of keys and the rate or the bits a key. The error is Plan's, or wraps ErrParameter where WithMaxBytes
// is less than a block.
//
// With WithMaxBytes, keys that would need more get the best rate that so many bytes give: Limited tells, and Geometry what it will be. Without, a filter of more than 64 GiB
// is an error when it is made.
func NewBuilder(p float64, opts ...Option) (*Builder, error) {
	if _, err := Plan(1, p); err != nil {
		return nil, err
	}
	return newBuilder(&Builder{rate: p}, opts)
}

// NewBuilderBits returns a Builder of filters with the best rate that bitsPerKey bits for each key give, as [PlanBits] sizes them for the number of keys that come: at most so many, or at least with [WithRoundUp]. Otherwise it is
// as NewBuilder; the error is PlanBits'.
func NewBuilderBits(bitsPerKey float64, opts ...Option) (*Builder, error) {
	if _, err := PlanBits(1, bitsPerKey); err != nil {
		return nil, err
	}
	return newBuilder(&Builder{bitsPerKey: bitsPerKey}, opts)
}

func newBuilder(b *Builder, opts []Option) (*Builder, error) {
	b.opts.maxBytes = defaultMaxBytes
	for _, opt := range opts {
		opt(&b.opts)
	}
	if err := b.opts.fixedSize(); err != nil {
		return nil, err
	}
	if b.opts.maxBytes < blockBytes {
		return nil, fmt.Errorf("blocked: %w: WithMaxBytes = %d, must be at least a block's %d", ErrParameter, b.opts.maxBytes, blockBytes)
	}
	b.hasher = Filter{seed: b.opts.seed, flip: flipOf(b.opts.seed), callerHash: b.opts.callerHash}
	return b, nil
}

// Add adds key. It costs the hash and 8 bytes, and nothing for the key that was added last: sorted keys may come several times.
func (b *Builder) Add(key []byte) { b.AddHash(b.hasher.Hash(key)) }

// AddString adds the bytes of a string, without a copy.
func (b *Builder) AddString(key string) { b.AddHash(b.hasher.HashString(key)) }

// AddUint64 adds the eight little-endian bytes of a uint64.
func (b *Builder) AddUint64(key uint64) { b.AddHash(b.hasher.HashUint64(key)) }

// AddHash adds the key that has hash h, with the Builder's seed.
func (b *Builder) AddHash(h uint64) {
	// What happens most takes no further call.
	if n := b.n; n < len(b.cur) && h != b.last {
		b.cur[n] = h
		b.n = n + 1
		b.last = h
		return
	}
	b.addHashSlow(h)
}

// addHashSlow is AddHash where the chunk is full, or where h may be the newest hash.
func (b *Builder) addHashSlow(h uint64) {
	if h == b.last && b.Len() > 0 {
		return
	}
	if b.n == len(b.cur) {
		b.nextChunk()
	}
	b.last = h
	b.cur[b.n] = h
	b.n++
}

// AddHashes adds the keys that have the hashes hs, with the Builder's seed, in order.
func (b *Builder) AddHashes(hs []uint64) {
	for _, h := range hs {
		b.AddHash(h)
	}
}

// nextChunk makes room for more hashes, after a full chunk.
func (b *Builder) nextChunk() {
	if b.cur != nil {
		b.full += b.n
		b.at++
	}
	if b.at == len(b.chunks) {
		size := firstChunk
		if b.at > 0 {
			size = min(2*len(b.chunks[b.at-1]), largeChunk)
		}
		b.chunks = append(b.chunks, make([]uint64, size))
	}
	b.cur, b.n = b.chunks[b.at], 0
}

// Len returns how many keys the filter will be for: those that were added, but for keys equal to the one before.
func (b *Builder) Len() int { return b.full + b.n }

// Reset forgets all keys. The memory stays for the next ones.
func (b *Builder) Reset() {
	b.at, b.full, b.n, b.cur = 0, 0, 0, nil
	if len(b.chunks) > 0 {
		b.cur = b.chunks[0]
	}
}

// planNow plans for the keys so far, once for each number of them.
func (b *Builder) planNow() *planned {
	n := b.Len()
	if b.plan.valid && b.plan.n == n {
		return &b.plan
	}
	p := planned{valid: true, n: n}
	switch {
	case b.rate > 0:
		p.g, p.err = Plan(uint64(n), b.rate)
	case b.opts.roundUp:
		p.g, p.err = remembered(uint64(n), b.bitsPerKey, planBitsUp, planUp)
	default:
		p.g, p.err = PlanBits(uint64(n), b.bitsPerKey)
	}
	switch most := b.opts.maxBytes; {
	case b.opts.budget && (p.err != nil || p.g.Bytes() > most):
		p.g, p.err = bestIn(uint64(n), most/blockBytes), nil
		p.limited = true
	case p.err == nil && p.g.Bytes() > most:
		p.err = fmt.Errorf("blocked: %w: %d keys need %d bytes, the maximum is %d (WithMaxBytes)", ErrTooLarge, n, p.g.Bytes(), most)
	}
	if p.err == nil && p.g.Bytes() > platformBytes {
		p.err = fmt.Errorf("blocked: %w: %d keys need %d bytes, the platform's maximum is %d", ErrTooLarge, n, p.g.Bytes(), platformBytes)
	}
	b.plan = p
	return &b.plan
}

// bestIn returns the geometry with the best rate for n keys in so many blocks, which is at least 1.
func bestIn(n, blocks uint64) Geometry {
	best := Geometry{Blocks: min(blocks, MaxBlocks), K: 8}
	rate := best.FalsePositiveRate(n)
	for k := 1; k <= 16; k++ {
		g := Geometry{Blocks: best.Blocks, K: k}
		if r := g.FalsePositiveRate(n); r < rate {
			best, rate = g, r
		}
	}
	return best
}

// Geometry returns the shape of the filter that would be made now; its FalsePositiveRate(Len()) is what to expect of it. The error wraps ErrTooLarge. The first call after an Add takes as long as Plan or
// PlanBits does: some 50 microseconds, or nanoseconds for a small number of keys that has been planned for of late.
func (b *Builder) Geometry() (Geometry, error) {
	p := b.planNow()
	if p.err != nil {
		return Geometry{}, p.err
	}
	return p.g, nil
}

// Limited reports whether the filter that would be made now is smaller than its rate or bits a key ask for, since WithMaxBytes allows no more. It costs what Geometry does.
func (b *Builder) Limited() bool { return b.planNow().limited }

// Bytes returns how many bytes AppendFinish would append now, 64*(Blocks+1), and 0 where it would fail. AppendCompact appends 56 fewer. It costs what Geometry does.
func (b *Builder) Bytes() uint64 {
	p := b.planNow()
	if p.err != nil {
		return 0
	}
	return headerBytes + p.g.Bytes()
}

// addTo adds all keys to the blocks of f.
func (b *Builder) addTo(f *header) {
	for _, chunk := range b.chunks[:b.at] {
		f.addAll(chunk)
	}
	f.addAll(b.cur[:b.n])
}

// AppendFinish appends the container of the filter, Bytes() of them, to dst and returns the extended slice. The header says how many keys it has. Without keys it is a filter that contains nothing. The blocks
// are filled where they stand, so it costs no memory beside dst's. The Builder keeps its keys until Reset.
//
// The error wraps ErrTooLarge; dst is returned as it was then.
func (b *Builder) AppendFinish(dst []byte) ([]byte, error) {
	g, err := b.Geometry()
	if err != nil {
		return dst, err
	}
	out, err := extend(dst, headerBytes+g.Bytes())
	if err != nil {
		return dst, err
	}
	made := out[len(dst):]
	blocks := made[headerBytes:]
	h := makeHeader(unsafe.Pointer(unsafe.SliceData(blocks)), g)
	b.addTo(&h)
	c := containerHeader{blocks: g.Blocks, seed: b.opts.seed, keys: uint64(b.Len()), k: uint8(g.K), hash: b.hasher.hashCode()}
	c.put((*[headerBytes]byte)(made), blocks)
	return out, nil
}

// AppendCompact is AppendFinish for the compact form, 64*Blocks+8 bytes, whose reader has to know the seed: see [OpenCompact].
func (b *Builder) AppendCompact(dst []byte) ([]byte, error) {
	g, err := b.Geometry()
	if err != nil {
		return dst, err
	}
	out, err := extend(dst, g.Bytes()+trailerBytes)
	if err != nil {
		return dst, err
	}
	blocks := out[len(dst) : len(out)-trailerBytes]
	h := makeHeader(unsafe.Pointer(unsafe.SliceData(blocks)), g)
	b.addTo(&h)
	putTrailer((*[trailerBytes]byte)(out[len(out)-trailerBytes:]), uint8(g.K), b.hasher.hashCode(), blocks)
	return out, nil
}

// Filter returns the filter, for lookups or more keys. The Builder keeps its keys until Reset. The error wraps ErrTooLarge.
func (b *Builder) Filter() (*Filter, error) {
	g, err := b.Geometry()
	if err != nil {
		return nil, err
	}
	f := newFilter(g, b.opts.seed, b.opts.small)
	f.callerHash = b.opts.callerHash
	b.addTo(&f.header)
	return f, nil
}
