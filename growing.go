package blocked

import (
	"fmt"
	"math"
	"math/bits"
)

// Growing is a filter for a number of keys that is not known beforehand: a list of layers, each a blocked filter of fixed size. Keys go into the newest layer; when that has taken as many new keys as
// it has capacity for, a larger one is added. The semantics are those of BF.RESERVE and BF.ADD in Redis. [NewGrowing] makes one. The zero Growing contains nothing, and adding to it is an error.
//
// The compound false positive rate, that of a lookup in all layers, stays at most p however many layers there are: see NewGrowing.
//
// A key that is found in any layer is not new: adding it changes nothing, not even where it was found by a false positive. So Card counts the adds that were new, and is less than the number of different
// keys by about the false positive rate.
//
// # Cost
//
// A key is hashed once for all layers. A lookup goes from the newest layer, which most often has most keys, to the oldest and costs one cache line in each until it finds the key: for an absent key all
// of them. An add costs the same, and an allocation where it makes a layer. Batches go layer by layer over the keys that are still undecided. A filter that is made for the right number of keys from the start is smaller and
// faster: growth by a factor G makes log G to base x layers, each with a lower rate than the last. No method that adds or looks up allocates, but for new layers, and the Select methods where their
// slice must grow.
//
// # Concurrency
//
// Lookups, Info and the other methods that only read may run in parallel with each other. An add, Reset or a read into the Growing may not run in parallel with anything on the same Growing. Where
// several goroutines add, put a [sync.RWMutex] around it: Lock for adds, which may take as long as the memory of a new layer, RLock for lookups. Where lookups must never wait, take a
// [Concurrent] that is planned large enough, and a [Live] to replace it when it is not. A copy of a Growing shares its layers and must not be added to; [Growing.Clone] makes one that may.
type Growing struct {
	layers     []layer // the oldest first
	hasher     Filter  // has the seed, the hash and WithoutHugePages, and no blocks
	p          float64
	expansion  int    // 0 with WithNonScaling
	maxBytes   uint64 // WithMaxBytes or the default
	saidBytes  uint64 // what files say of it: WithMaxBytes as it was given or stood in the file read, or 0
	ownBudget  bool   // it was given
	full       error  // why no further layer can be made, once that was tried
	bytes      uint64 // of all layers' blocks
	olderItems uint64 // items of all layers but the newest
}

// layer is one filter of a Growing.
type layer struct {
	Filter
	capacity uint64
	items    uint64 // at most capacity
}

const (
	// maxExpansion is Redis' largest.
	maxExpansion     = 1 << 15
	defaultExpansion = 2

	// maxLayers is the most layers that the format allows.
	maxLayers = 1 << 20
)

// WithExpansion sets how many times the capacity of the newest layer the next one of a [Growing] has: 1 to 32768, 2 if not set. A large one makes few layers, and lookups fast; a small one has less memory without
// keys. With 1 all layers are equal, and a filter that grows a thousandfold has a thousand of them, each of which a lookup of an absent key asks. It is an error in other filters.
func WithExpansion(x int) Option { return func(o *options) { o.expansion, o.expands = x, true } }

// WithNonScaling makes a [Growing] that does not grow: one layer, which has rate p. When it has its n keys, adding a new one is an error that wraps ErrFull, and known keys
// still answer. Together with WithExpansion it is an error, and so it is in other filters.
func WithNonScaling() Option { return func(o *options) { o.nonScaling = true } }

// fixedSize returns an error where an option was given that only a Growing understands.
func (o *options) fixedSize() error {
	switch {
	case o.expands:
		return fmt.Errorf("blocked: %w: WithExpansion(%d) is an option of NewGrowing only", ErrParameter, o.expansion)
	case o.nonScaling:
		return fmt.Errorf("blocked: %w: WithNonScaling is an option of NewGrowing only", ErrParameter)
	}
	return nil
}

// NewGrowing returns an empty Growing whose first layer has capacity for n new keys, 0 being taken as 1, and whose compound false positive rate is at most p, on average over filters, however
// much it grows. n and p have the range and the errors of [Plan], and a first layer larger than WithMaxBytes allows is an error that wraps ErrTooLarge. An expansion out of range, or
// together with WithNonScaling, wraps ErrParameter.
//
// WithSeed, WithCallerHash and WithoutHugePages are for all layers, WithMaxBytes for the sum of them, 64 GiB if not set. The last layer that it leaves room for is made smaller, down to n keys, if it does not fit. What follows
// is an error of the add that wraps ErrFull. The next layer can be many times what the filter has: set WithMaxBytes to what the process can spare.
//
// # Rates
//
// Layer i, from 0 on, has the share 2/((i+2)(i+3)) of the rate p: a third, a sixth, a tenth, a fifteenth and so on, 2/(L+2) being left after L layers. Halving, which Redis does, gives 1/2, 1/4, 1/8: it takes up to 8%
// less memory than this for one to four layers, and more from five on (six for x = 1): a third more at ten layers and 1.7 times as much at fourteen, for p = 1% and x = 2. A filter that never grows
// has about a quarter more memory than a [Filter] of rate p. Below MinRate no layer is made: from where the series falls below, layers have MinRate as long as p allows it, and then
// the filter is full. For p = 1% that is after some 2500 layers, for 0.1% after some 800.
func NewGrowing(n uint64, p float64, opts ...Option) (*Growing, error) {
	o := options{maxBytes: defaultMaxBytes}
	for _, opt := range opts {
		opt(&o)
	}
	switch {
	case o.expands && o.nonScaling:
		return nil, fmt.Errorf("blocked: %w: WithExpansion(%d) and WithNonScaling contradict each other", ErrParameter, o.expansion)
	case !o.expands && !o.nonScaling:
		o.expansion = defaultExpansion
	case o.expands && (o.expansion < 1 || o.expansion > maxExpansion):
		return nil, fmt.Errorf("blocked: %w: expansion = %d, must be 1 to %d", ErrParameter, o.expansion, maxExpansion)
	}
	if _, err := Plan(1, p); err != nil {
		return nil, err
	}
	g := &Growing{p: p, expansion: o.expansion, maxBytes: o.maxBytes, ownBudget: o.budget}
	if o.budget {
		g.saidBytes = o.maxBytes
	}
	g.hasher = Filter{seed: o.seed, flip: flipOf(o.seed), callerHash: o.callerHash, small: o.small}
	g.hasher.kernel = active // batches of integers are hashed by vectors where it has them
	n = max(n, 1)
	rate, _ := g.layerRate(0)
	shape, err := planNew(n, rate)
	if err != nil {
		return nil, err
	}
	if most := min(o.maxBytes, platformBytes); shape.Bytes() > most {
		return nil, fmt.Errorf("blocked: %w: the first layer, for %d keys, has %d bytes, the maximum is %d (WithMaxBytes, or the platform's)", ErrTooLarge, n, shape.Bytes(), most)
	}
	g.addLayer(n, shape)
	return g, nil
}

// The rates of the layers.
//
// A lookup of an absent key is a false positive unless each of the layers says no, so that the compound rate is 1 - prod(1-p[i]), which is at most p where the sum of -ln(1-p[i]) is at most -ln(1-p). The series gives each
// layer its share w[i] of that, with the sum of all shares, however many, at most 1. A layer pays for it with about 1.44*log2(1/w[i]) bits a key (more where rates are low: blocks cost more there), as a codeword of log2(1/w[i]) bits
// would cost, and Kraft's inequality is the same sum. So the series are codes of the integers (Elias, "Universal Codeword Sets and Representations of the Integers", 1975), and none is the
// best for every number of layers. Almeida, Baquero, Preguica and Hutchison, "Scalable Bloom Filters" (2007), have geometric series and advise a ratio of 0.8 to 0.9; Redis has 0.5, the unary code.
//
// Bits a key of all layers, all of them full, with the geometries that Plan makes, p = 1% and x = 2, where one filter has 10.10:
//
//	layers                         1      2      3      4      5      6      8     10     14
//	halving                    11.61  12.72  14.08  15.70  17.28  19.04  23.02  27.54  38.32
//	ratio 3/4                  13.27  13.76  14.34  15.00  15.73  16.51  17.86  19.41  22.83
//	ratio 0.85                 14.60  14.90  15.24  15.62  16.04  16.49  17.25  18.04  19.84
//	(6/pi^2)/(i+1)^2           11.17  13.43  15.40  16.89  18.22  19.39  21.34  22.90  25.29
//	1/((i+1)(i+2))             11.61  13.41  15.04  16.32  17.48  18.52  20.28  21.71  23.93
//	2/((i+2)(i+3))             12.56  13.73  14.87  15.96  16.79  17.60  19.03  20.26  22.21
//	3/((i+3)(i+4))             13.27  14.16  15.05  15.94  16.61  17.29  18.54  19.62  21.40
//	40/((i+4)(i+5)(i+6))       12.56  13.50  14.49  15.51  16.53  17.29  18.83  20.25  22.68
//	1/ln(i+2), differences     12.32  14.09  15.64  16.79  17.83  18.75  20.27  21.49  23.30
//
// The order is the same for x = 4 and 8; for x = 1, which makes many layers, the slower series gain. 2/((i+2)(i+3)) is at most a twelfth above halving where that is best, within 3% of the best at ten layers, and has
// room for thousands of layers above MinRate: a geometric series of ratio 3/4 has it for about fifty, and a cubic one for about five hundred. (bench/GROWING.md measures it.)

// sharesAfter returns what is left of the shares before layer i: the sum of w[j] over j >= i.
func sharesAfter(i float64) float64 { return 2 / (i + 2) }

// rateBudget returns -ln(1-p): the sum of the layers' -ln(1-p[i]). Rates above 0.9 are taken as 0.9, the range of ln1m.
func rateBudget(p float64) float64 { return -ln1m(min(p, 0.9)) }

// layerRate returns the false positive rate of layer i at its capacity, and whether there can be such a layer. It is a function of p and i, the same on every machine.
func (g *Growing) layerRate(i int) (rate float64, ok bool) {
	if g.expansion == 0 {
		return g.p, i == 0
	}
	all := rateBudget(g.p)
	above := func(i int) (rate float64, ok bool) {
		x := all * sharesAfter(float64(i)) / float64(i+3)
		rate = x / (1 + x) // below 1-e^-x, and the same everywhere
		return rate, rate >= minRate()
	}
	if rate, ok = above(i); ok {
		return rate, i < maxLayers
	}
	// Layers from the first one that the series would put below MinRate share what is left.
	first, after := 0, i // above(after) is false, as are all that follow
	for first < after {
		if mid := (first + after) / 2; func() bool { _, ok := above(mid); return ok }() {
			first = mid + 1
		} else {
			after = mid
		}
	}
	return minRate(), float64(i-first+1)*rateBudget(minRate()) <= all*sharesAfter(float64(first)) && i < maxLayers
}

// planNew is Plan for n new keys: adds that changed the filter. Keys that were false positives when they came are not among them, so that n of them have set more bits than n keys as they come.
func planNew(n uint64, p float64) (Geometry, error) {
	shape, err := Plan(n, p)
	if err != nil {
		return shape, err
	}
	return Plan(uint64(math.Ceil(float64(n)/(1-whileFilling(shape, n, p)))), p)
}

// whileFilling returns the mean false positive rate of a filter that comes to have n keys and then rate p, by Simpson's rule: as the rate grows with about the k-th power of the keys, that is too much rather than too little. Where p is
// so high that the rate levels off, it is a sum of the rates at the upper ends of many steps, which is too much as well.
func whileFilling(shape Geometry, n uint64, p float64) float64 {
	if p > 0.5 {
		const steps = 32
		sum := p
		for i := uint64(1); i < steps; i++ {
			sum += shape.FalsePositiveRate(n/steps*i + n%steps*i/steps)
		}
		return sum / steps
	}
	return (float64(4*shape.FalsePositiveRate(n/2)) + p) / 6
}

// mostIn returns the geometry of so many bytes that takes the most new keys at rate p, and how many; 0 where it takes none.
func mostIn(bytes uint64, p float64) (n uint64, shape Geometry) {
	blocks := min(bytes/blockBytes, MaxBlocks)
	if blocks == 0 {
		return 0, shape
	}
	for k := 1; k <= 16; k++ {
		s := Geometry{Blocks: blocks, K: k}
		if most := s.Capacity(p); most > n {
			n, shape = most, s
		}
	}
	if n > 0 {
		n = uint64(float64(n) * (1 - whileFilling(shape, n, p)))
	}
	return n, shape
}

// grow adds a layer, or returns an error that wraps ErrFull and stays: what was refused once is refused without planning again.
func (g *Growing) grow() error {
	if g.full == nil {
		g.full = g.tryGrow()
	}
	return g.full
}

func (g *Growing) tryGrow() error {
	i := len(g.layers)
	if i == 0 {
		return fmt.Errorf("blocked: %w: capacity = 0: a zero Growing has no room; make one with NewGrowing", ErrParameter)
	}
	last := &g.layers[i-1]
	if g.expansion == 0 {
		return fmt.Errorf("blocked: %w: it has its %d keys and does not scale (WithNonScaling)", ErrFull, last.capacity)
	}
	rate, ok := g.layerRate(i)
	if !ok {
		return fmt.Errorf("blocked: %w: layers = %d: one more, of the lowest rate %.3g, would bring the compound rate above p = %v", ErrFull, i, minRate(), g.p)
	}
	hi, capacity := bits.Mul64(last.capacity, uint64(g.expansion))
	if hi != 0 {
		capacity = math.MaxUint64
	}
	most := min(g.maxBytes, platformBytes)
	left := most - min(most, g.bytes)
	shape, err := planNew(capacity, rate)
	if err != nil || shape.Bytes() > left {
		// What is left may do for a smaller one: a filter that stops with most of its budget unused is of no help. But not one for a few keys, that every lookup pays for.
		n, s := mostIn(left, rate)
		least := g.layers[0].capacity
		if n < least {
			return fmt.Errorf("blocked: %w: %d layers have %d bytes of at most %d (WithMaxBytes, or the platform's), and a layer of %d keys, the least, does not fit into the rest", ErrFull, i, g.bytes, most, least)
		}
		capacity, shape = min(n, capacity), s
	}
	g.olderItems += last.items
	g.addLayer(capacity, shape)
	return nil
}

func (g *Growing) addLayer(capacity uint64, shape Geometry) {
	f := newFilter(shape, g.hasher.seed, g.hasher.small)
	f.callerHash = g.hasher.callerHash
	g.layers = append(g.layers, layer{Filter: *f, capacity: capacity})
	g.bytes += shape.Bytes()
}

// capacity returns the sum of the layers'.
func (g *Growing) capacity() (n uint64) {
	for i := range g.layers {
		n += g.layers[i].capacity
	}
	return n
}

// Hash returns the hash of key with the seed of all layers: XXH3-64.
func (g *Growing) Hash(key []byte) uint64 { return g.hasher.Hash(key) }

// HashString returns the hash of a string's bytes.
func (g *Growing) HashString(key string) uint64 { return g.hasher.HashString(key) }

// HashUint64 returns the hash of a uint64's eight little-endian bytes.
func (g *Growing) HashUint64(key uint64) uint64 { return g.hasher.HashUint64(key) }

// Seed returns the seed of the hash.
func (g *Growing) Seed() uint64 { return g.hasher.seed }

// CallerHash reports whether the Growing was made WithCallerHash.
func (g *Growing) CallerHash() bool { return g.hasher.callerHash }

// Add adds key. The error wraps ErrFull where key is new and there is no room for it; otherwise key is in. A nil key is the empty key.
func (g *Growing) Add(key []byte) error { return g.AddHash(g.Hash(key)) }

// AddString adds the bytes of a string, with Add's error.
func (g *Growing) AddString(key string) error { return g.AddHash(g.HashString(key)) }

// AddUint64 adds the eight little-endian bytes of a uint64, with Add's error.
func (g *Growing) AddUint64(key uint64) error { return g.AddHash(g.HashUint64(key)) }

// AddHash adds the key that has hash h, with the seed of g and Add's error.
func (g *Growing) AddHash(h uint64) error {
	_, err := g.AddIfAbsentHash(h)
	return err
}

// AddIfAbsent adds key and reports whether it was new: found in no layer. If it was not, it had been added, or is a false positive. The error wraps ErrFull where key is new and there is no room for it; added
// is false then. It costs what Add does.
func (g *Growing) AddIfAbsent(key []byte) (added bool, err error) {
	return g.AddIfAbsentHash(g.Hash(key))
}

// AddIfAbsentString is AddIfAbsent for the bytes of a string.
func (g *Growing) AddIfAbsentString(key string) (added bool, err error) {
	return g.AddIfAbsentHash(g.HashString(key))
}

// AddIfAbsentUint64 is AddIfAbsent for the eight little-endian bytes of a uint64.
func (g *Growing) AddIfAbsentUint64(key uint64) (added bool, err error) {
	return g.AddIfAbsentHash(g.HashUint64(key))
}

// AddIfAbsentHash is AddIfAbsent for the key that has hash h, with the seed of g.
func (g *Growing) AddIfAbsentHash(h uint64) (added bool, err error) {
	last := len(g.layers) - 1
	for i := last - 1; i >= 0; i-- {
		if g.layers[i].MayContainHash(h) {
			return false, nil
		}
	}
	if last < 0 || g.layers[last].items == g.layers[last].capacity {
		if last >= 0 && g.layers[last].MayContainHash(h) {
			return false, nil
		}
		if err := g.grow(); err != nil {
			return false, err
		}
		last++
	}
	l := &g.layers[last]
	added = l.AddIfAbsentHash(h)
	if added {
		l.items++
	}
	return added, nil
}

// MayContain reports whether key may have been added: false is certain, true is wrong with the compound false positive rate. It costs the hash and a cache line a layer.
func (g *Growing) MayContain(key []byte) bool { return g.MayContainHash(g.Hash(key)) }

// MayContainString is MayContain for the bytes of a string, without a copy.
func (g *Growing) MayContainString(key string) bool { return g.MayContainHash(g.HashString(key)) }

// MayContainUint64 is MayContain for the eight little-endian bytes of a uint64.
func (g *Growing) MayContainUint64(key uint64) bool { return g.MayContainHash(g.HashUint64(key)) }

// MayContainHash is MayContain for the key that has hash h, with the seed of g.
func (g *Growing) MayContainHash(h uint64) bool {
	// The newest first: of layers that grow x-fold it has most of the keys. No layer waits for the one before, as the processor expects the answer no and goes on.
	for i := len(g.layers) - 1; i >= 0; i-- {
		if g.layers[i].MayContainHash(h) {
			return true
		}
	}
	return false
}

// addWindow adds at most undecidedSize hashes and says which of them were new. Where there is no room for one it returns its place: those before it are in, and no other was added.
func (g *Growing) addWindow(added []bool, hs []uint64) (n int, err error) {
	clear(added[:len(hs)])
	var u undecided
	u.n = copy(u.hs[:], hs)
	for i := range u.n {
		u.at[i] = uint16(i)
	}
	for i := len(g.layers) - 2; i >= 0 && u.n > 0; i-- {
		if u.ask(&g.layers[i].header) {
			u.dropFound()
		}
	}
	u.dropFound()
	for u.n > 0 {
		if len(g.layers) > 0 {
			l := &g.layers[len(g.layers)-1]
			if room := l.capacity - l.items; room > 0 {
				take := int(min(uint64(u.n), room))
				l.addAllIfAbsent(u.may[:take], u.hs[:take])
				l.items += uint64(countTrue(u.may[:take]))
				for i, new := range u.may[:take] {
					added[u.at[i]] = new
				}
				u.dropFirst(take)
				continue
			}
			u.ask(&l.header)
			u.dropFound()
			if u.n == 0 {
				break
			}
		}
		if err := g.grow(); err != nil {
			return int(u.at[0]), err
		}
	}
	return len(hs), nil
}

// AddHashes adds the keys that have the hashes hs, with the seed of g, in order. It returns how many of them went in: all, or, with an error that wraps ErrFull, those of hs[:n], where hs[n] is a new key for which there is no room. No key
// behind it was added. hs is only read.
func (g *Growing) AddHashes(hs []uint64) (n int, err error) {
	var added [undecidedSize]bool
	for n < len(hs) {
		part := hs[n:min(len(hs), n+undecidedSize)]
		m, err := g.addWindow(added[:], part)
		n += m
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// AddIfAbsentHashes is AddHashes and sets added[i] where hs[i] was new: where it stands in hs twice, at most its first place. From n on added is false. It panics if len(added) < len(hs), and leaves
// what added has beyond that alone.
func (g *Growing) AddIfAbsentHashes(added []bool, hs []uint64) (n int, err error) {
	added = added[:len(hs)]
	for n < len(hs) {
		m, err := g.addWindow(added[n:min(len(hs), n+undecidedSize)], hs[n:min(len(hs), n+undecidedSize)])
		n += m
		if err != nil {
			clear(added[n:])
			return n, err
		}
	}
	return n, nil
}

// AddKeys adds keys, with AddHashes' result.
func (g *Growing) AddKeys(keys [][]byte) (n int, err error) {
	var hs [undecidedSize]uint64
	for n < len(keys) {
		part := keys[n:min(len(keys), n+undecidedSize)]
		g.hasher.hashKeys(hs[:len(part)], part)
		m, err := g.AddHashes(hs[:len(part)])
		n += m
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// AddStrings adds the bytes of strings, with AddHashes' result.
func (g *Growing) AddStrings(keys []string) (n int, err error) {
	var hs [undecidedSize]uint64
	for n < len(keys) {
		part := keys[n:min(len(keys), n+undecidedSize)]
		g.hasher.hashStrings(hs[:len(part)], part)
		m, err := g.AddHashes(hs[:len(part)])
		n += m
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// AddUint64s adds the eight little-endian bytes of each key, with AddHashes' result.
func (g *Growing) AddUint64s(keys []uint64) (n int, err error) {
	var hs [undecidedSize]uint64
	for n < len(keys) {
		part := keys[n:min(len(keys), n+undecidedSize)]
		g.hasher.hashUint64s(hs[:len(part)], part)
		m, err := g.AddHashes(hs[:len(part)])
		n += m
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// MayContainHashes sets dst[i] to whether the key with hash hs[i] may have been added. It panics if len(dst) < len(hs), and leaves what dst has beyond that alone.
func (g *Growing) MayContainHashes(dst []bool, hs []uint64) {
	dst = dst[:len(hs)]
	last := len(g.layers) - 1
	if last < 0 {
		clear(dst)
		return
	}
	g.layers[last].containsAll(dst, hs)
	askRest(dst, hs, last, func(i int) *header { return &g.layers[i].header })
}

// MayContainKeys sets dst[i] to whether keys[i] may have been added. It panics if len(dst) < len(keys).
func (g *Growing) MayContainKeys(dst []bool, keys [][]byte) {
	dst = dst[:len(keys)]
	var hs [undecidedSize]uint64
	for len(keys) > 0 {
		n := min(len(keys), undecidedSize)
		g.hasher.hashKeys(hs[:n], keys[:n])
		g.MayContainHashes(dst, hs[:n])
		dst, keys = dst[n:], keys[n:]
	}
}

// MayContainStrings sets dst[i] to whether the bytes of keys[i] may have been added. It panics if len(dst) < len(keys).
func (g *Growing) MayContainStrings(dst []bool, keys []string) {
	dst = dst[:len(keys)]
	var hs [undecidedSize]uint64
	for len(keys) > 0 {
		n := min(len(keys), undecidedSize)
		g.hasher.hashStrings(hs[:n], keys[:n])
		g.MayContainHashes(dst, hs[:n])
		dst, keys = dst[n:], keys[n:]
	}
}

// MayContainUint64s sets dst[i] to whether keys[i], as eight little-endian bytes, may have been added. It panics if len(dst) < len(keys).
func (g *Growing) MayContainUint64s(dst []bool, keys []uint64) {
	dst = dst[:len(keys)]
	var hs [undecidedSize]uint64
	for len(keys) > 0 {
		n := min(len(keys), undecidedSize)
		g.hasher.hashUint64s(hs[:n], keys[:n])
		g.MayContainHashes(dst, hs[:n])
		dst, keys = dst[n:], keys[n:]
	}
}

// SelectHashes appends to sel the positions i, in rising order, of those hs[i] that may have been added, and returns the extended slice: a selection vector. It
// allocates only where the capacity of sel beyond its length is less than len(hs), which must be below 2^32, and may overwrite what there is in that capacity.
func (g *Growing) SelectHashes(sel []uint32, hs []uint64) []uint32 {
	var may [undecidedSize]bool
	for base := 0; base < len(hs); base += undecidedSize {
		part := hs[base:min(len(hs), base+undecidedSize)]
		g.MayContainHashes(may[:], part)
		sel = appendSelected(sel, may[:len(part)], base, len(hs)-base)
	}
	return sel
}

// SelectKeys appends to sel the positions of the keys that may have been added, as SelectHashes does.
func (g *Growing) SelectKeys(sel []uint32, keys [][]byte) []uint32 {
	var may [undecidedSize]bool
	for base := 0; base < len(keys); base += undecidedSize {
		part := keys[base:min(len(keys), base+undecidedSize)]
		g.MayContainKeys(may[:], part)
		sel = appendSelected(sel, may[:len(part)], base, len(keys)-base)
	}
	return sel
}

// SelectStrings appends to sel the positions of the keys that may have been added, as SelectHashes does.
func (g *Growing) SelectStrings(sel []uint32, keys []string) []uint32 {
	var may [undecidedSize]bool
	for base := 0; base < len(keys); base += undecidedSize {
		part := keys[base:min(len(keys), base+undecidedSize)]
		g.MayContainStrings(may[:], part)
		sel = appendSelected(sel, may[:len(part)], base, len(keys)-base)
	}
	return sel
}

// SelectUint64s appends to sel the positions of the keys that may have been added, as SelectHashes does.
func (g *Growing) SelectUint64s(sel []uint32, keys []uint64) []uint32 {
	var may [undecidedSize]bool
	for base := 0; base < len(keys); base += undecidedSize {
		part := keys[base:min(len(keys), base+undecidedSize)]
		g.MayContainUint64s(may[:], part)
		sel = appendSelected(sel, may[:len(part)], base, len(keys)-base)
	}
	return sel
}

// Reset empties the Growing and drops all layers but the first, whose memory stays.
func (g *Growing) Reset() {
	if len(g.layers) == 0 {
		return
	}
	clear(g.layers[1:]) // so that their memory can be collected
	g.layers = g.layers[:1]
	first := &g.layers[0]
	first.Filter.Reset()
	first.items = 0
	g.full, g.olderItems, g.bytes = nil, 0, first.Geometry().Bytes()
}

// Clone returns a copy with memory of its own.
func (g *Growing) Clone() *Growing {
	c := *g
	c.layers = make([]layer, len(g.layers))
	for i := range g.layers {
		l := &g.layers[i]
		c.layers[i] = layer{Filter: *l.Filter.Clone(), capacity: l.capacity, items: l.items}
	}
	return &c
}

// Card returns how many adds were new, as BF.CARD does: the different keys that were added, but for those that were false positives when they came. It costs nothing.
func (g *Growing) Card() uint64 {
	if len(g.layers) == 0 {
		return 0
	}
	return g.olderItems + g.layers[len(g.layers)-1].items
}

// GrowingInfo is what a [Growing] knows of itself without a look at its bits.
type GrowingInfo struct {
	Capacity    uint64  // new keys that the layers there are take, those in them included
	Items       uint64  // new keys in them: Card
	Bytes       uint64  // of all layers' blocks
	MaxBytes    uint64  // WithMaxBytes, or 64 GiB
	Layers      int     // how many there are
	Expansion   int     // capacity of the next layer over that of the newest; 0 with WithNonScaling
	Rate        float64 // p, the compound false positive rate that is never exceeded
	PlannedRate float64 // the compound rate, at most, when the layers there are have all their keys
}

// Info returns what g knows of itself. It costs some nanoseconds a layer.
func (g *Growing) Info() GrowingInfo {
	if len(g.layers) == 0 {
		return GrowingInfo{}
	}
	planned := g.p
	// Layers of MinRate have more than their share.
	if last, _ := g.layerRate(len(g.layers) - 1); g.expansion != 0 && last > minRate() {
		planned = min(g.p, -math.Expm1(-rateBudget(g.p)*(1-sharesAfter(float64(len(g.layers))))))
	}
	return GrowingInfo{
		Capacity: g.capacity(), Items: g.Card(), Bytes: g.bytes, MaxBytes: g.maxBytes, Layers: len(g.layers), Expansion: g.expansion, Rate: g.p, PlannedRate: planned,
	}
}

// GrowingLayer is a layer of a [Growing]: a view of its filter, whose Stats and the like are about this layer alone, and its place in the plan.
type GrowingLayer struct {
	View
	Capacity uint64  // new keys that it takes
	Items    uint64  // new keys that it has
	Rate     float64 // its false positive rate at Capacity, at most
}

// Layers returns the layers, the oldest first. They see what is added later, and must not be used while something is.
func (g *Growing) Layers() []GrowingLayer {
	ls := make([]GrowingLayer, len(g.layers))
	for i := range ls {
		l := &g.layers[i]
		rate, _ := g.layerRate(i)
		ls[i] = GrowingLayer{View: l.View(), Capacity: l.capacity, Items: l.items, Rate: rate}
	}
	return ls
}

// FalsePositiveRate returns the share of lookups of absent keys that report "may contain", 0 to 1, of the filter as it stands, from the layers' bits as [Filter.FalsePositiveRate] has it: one minus the product of what
// the layers leave. It costs one pass over the memory, and counts as a lookup.
func (g *Growing) FalsePositiveRate() float64 {
	no := 1.0
	for i := range g.layers {
		no *= 1 - g.layers[i].FalsePositiveRate()
	}
	return 1 - no
}
