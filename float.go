package blocked

import "math"

// Arithmetic that gives the same bits on every architecture.
//
// The geometry of a filter follows from a rate, and must not depend on the machine that plans it: two of them would build filters that cannot be compared. Go's math.Exp and
// math.Log1p differ in the last place between architectures, and the compiler may fuse a product and a sum. So the model has its own two functions, and every product that
// is added to something stands in a conversion, which forbids the fusion.

// ln1m returns the logarithm of 1-y for y from 0 to 0.9, within a few units in the last place.
func ln1m(y float64) float64 {
	// ln(1-y) = -2 atanh(s) = -2 (s + s^3/3 + s^5/5 + ...) with s = y/(2-y)
	s := y / (2 - y)
	square := float64(s * s)
	sum, power := s, s
	for i := 3.0; ; i += 2 {
		power = float64(power * square)
		next := sum + power/i
		if next == sum {
			return -2 * sum
		}
		sum = next
	}
}

// expNeg returns e^-x for x of 0 and more, within 2 units in the last place.
func expNeg(x float64) float64 {
	if !(x < 700) {
		return 0
	}
	const (
		ln2Hi = 6.93147180369123816490e-01 // the upper 32 bits of ln 2: products with small integers are exact
		ln2Lo = 1.90821492927058770002e-10
	)
	twos := math.Floor(x/math.Ln2 + 0.5)
	r := -(x - float64(twos*ln2Hi) - float64(twos*ln2Lo)) // |r| <= ln 2 / 2
	sum := 1.0
	for i := 14.0; i > 0; i-- {
		sum = 1 + float64(float64(r/i)*sum)
	}
	return sum * math.Float64frombits(uint64(1023-int64(twos))<<52)
}

// pair is the number hi + lo, with lo at most half a unit in the last place of hi: 106 bits (Dekker 1971, "A floating-point technique for extending the
// available precision").
type pair struct{ hi, lo float64 }

func (x pair) minus() pair { return pair{-x.hi, -x.lo} }

func (x pair) plus(y pair) pair {
	s := x.hi + y.hi
	v := s - x.hi
	e := (x.hi - (s - v)) + (y.hi - v) + x.lo + y.lo
	hi := s + e
	return pair{hi, e - (hi - s)}
}

func (x pair) times(y pair) pair {
	p := float64(x.hi * y.hi)
	e := math.FMA(x.hi, y.hi, -p) + (float64(x.hi*y.lo) + float64(x.lo*y.hi))
	hi := p + e
	return pair{hi, e - (hi - p)}
}

func (x pair) over(d float64) pair {
	q := x.hi / d
	rest := math.FMA(-q, d, x.hi) + x.lo
	e := rest / d
	hi := q + e
	return pair{hi, e - (hi - q)}
}
