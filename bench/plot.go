package main

import (
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/blockedbloom/blocked/bench/peers"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// The pictures. The legend stands beside the plot, so that it covers no line.

const (
	pictureWidth  = 24 * vg.Centimeter
	pictureHeight = 14 * vg.Centimeter
	legendWidth   = 8.2 * vg.Centimeter
)

// ours has a colour for each kernel, peers one for each library, in every picture the same; markers tell apart whoever sees no colours.
var (
	ourColours = []color.RGBA{{0x00, 0x00, 0x00, 0xff}, {0x00, 0x5a, 0xb5, 0xff}, {0x66, 0xa9, 0xe0, 0xff}}
	colours    = []color.RGBA{
		{0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0x6f, 0xcf, 0xa8, 0xff}, {0xe6, 0x9f, 0x00, 0xff}, {0xcc, 0x79, 0xa7, 0xff},
		{0x80, 0x40, 0xb0, 0xff}, {0x88, 0x88, 0x88, 0xff}, {0x99, 0x44, 0x22, 0xff}, {0xb0, 0xb0, 0x20, 0xff}, {0xc0, 0x20, 0x40, 0xff},
		{0x50, 0x70, 0x50, 0xff}, {0xa0, 0x80, 0x60, 0xff},
	}
	markers = []draw.GlyphDrawer{draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{}, draw.BoxGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{}, draw.RingGlyph{}}
)

// style returns the colour and the marker of a library.
func style(library string) (color.RGBA, draw.GlyphDrawer) {
	for i, l := range peers.All() {
		if l.Name == library && i > 0 {
			return colours[(i-1)%len(colours)], markers[(i-1)%len(markers)]
		}
	}
	return ourColours[0], draw.CircleGlyph{}
}

// A curve is one line of a picture.
type curve struct {
	name   string
	points plotter.XYs
	dashed bool
	colour color.RGBA
	marker draw.GlyphDrawer
}

// draw draws the pictures of a run and returns their names.
func (d *data) draw(dir string) ([]string, error) {
	var written []string
	one := func(name, title, x, y string, logX bool, curves []curve) error {
		curves = slices.DeleteFunc(curves, func(c curve) bool { return len(c.points) == 0 })
		if len(curves) == 0 {
			return nil
		}
		path := filepath.Join(dir, name)
		written = append(written, path)
		return picture(path, title, x, y, logX, curves)
	}
	const keys, ns = "keys in the filter", "ns a key"
	if err := one("lookup-hash.png", "Lookup of absent keys, hash given, target rate 1%", keys, ns, true, d.lookupCurves(peers.Hash)); err != nil {
		return nil, err
	}
	if err := one("lookup-key16.png", "Lookup of absent 16-byte keys, hash included, target rate 1%", keys, ns, true, d.lookupCurves(peers.Key16)); err != nil {
		return nil, err
	}
	if err := one("building.png", "Building from nothing, 16-byte keys unless named, target rate 1%", keys, ns, true, d.buildCurves()); err != nil {
		return nil, err
	}
	err := one("memory.png", "Memory at the measured rate", "measured false positive rate", "bits a key", true, d.memoryCurves())
	return written, err
}

// over makes the curve of an operation over the number of keys.
func (d *data) over(name, library string, dashed bool, rate float64, which set, keep func(entry) bool) curve {
	c := curve{name: name, dashed: dashed}
	c.colour, c.marker = style(library)
	for _, n := range d.sizes(rate, func(string) bool { return true }) {
		if e, ok := fastest(d.entries(n, rate, which, keep)); ok {
			c.points = append(c.points, plotter.XY{X: float64(n), Y: e.stat.Median})
		}
	}
	return c
}

func (d *data) lookupCurves(input peers.Input) []curve {
	var cs []curve
	for i, kernel := range d.header.Kernels {
		of := func(kind peers.Kind) func(entry) bool {
			return func(e entry) bool {
				return e.c.Library == peers.OursName && e.c.Kernel == kernel && e.input() == input && e.kind() == kind
			}
		}
		batch := d.over("blocked, batch, "+kernel, peers.OursName, false, 0.01, absent, of(peers.Batch))
		single := d.over("blocked, single, "+kernel, peers.OursName, true, 0.01, absent, of(peers.Single))
		batch.colour = ourColours[i%len(ourColours)]
		single.colour = batch.colour
		cs = append(cs, batch, single)
	}
	for _, l := range peers.All() {
		if l.Ours || input == peers.Hash && l.HashOf == nil {
			continue
		}
		name := l.Name
		if rate, ok := d.anyRate(l.Name); ok && rate > missedFrom*0.01 {
			name += " (rate " + percent(rate) + ")"
		}
		cs = append(cs, d.over(name, l.Name, false, 0.01, absent, func(e entry) bool {
			return e.c.Library == l.Name && e.input() == input && e.kind() != peers.Chain
		}))
	}
	if input == peers.Hash {
		for _, pages := range []string{pagesOrdinary, pagesHuge} {
			c := curve{name: "a random line, " + pages + " pages", dashed: true, colour: color.RGBA{0x99, 0x99, 0x99, 0xff}, marker: draw.RingGlyph{}}
			if pages == pagesHuge {
				c.marker = draw.CrossGlyph{}
			}
			for _, of := range d.cases {
				if of.Kind == kindLines && of.Pages == pages {
					if s := d.stat(of, "prefetched/hash/single", absent); s.N > 0 {
						c.points = append(c.points, plotter.XY{X: float64(of.N), Y: s.Median})
					}
				}
			}
			cs = append(cs, c)
		}
	}
	return cs
}

// anyRate returns the measured rate of a library at 1% and the largest size.
func (d *data) anyRate(library string) (float64, bool) {
	ns := d.sizes(0.01, func(lib string) bool { return lib == library })
	if len(ns) == 0 {
		return 0, false
	}
	return d.of[d.filterCase(library, "", ns[len(ns)-1], 0.01, "")].fpr()
}

func (d *data) buildCurves() []curve {
	cs := []curve{
		d.over("blocked, hash given", peers.OursName, true, 0.01, inOrder, func(e entry) bool { return d.isOurs(e) && e.input() == peers.Hash }),
		d.over("blocked", peers.OursName, false, 0.01, inOrder, func(e entry) bool { return d.isOurs(e) && e.input() == peers.Key16 }),
		d.over("parquet-go, hash given", "parquet-go", true, 0.01, inOrder, func(e entry) bool { return e.c.Library == "parquet-go" && e.input() == peers.Hash }),
	}
	for _, l := range peers.All() {
		if !l.Ours {
			cs = append(cs, d.over(l.Name, l.Name, false, 0.01, inOrder, func(e entry) bool { return e.c.Library == l.Name && e.input() == peers.Key16 }))
		}
	}
	return cs
}

// memoryCurves has a point for each filter measured at a million keys, or the number nearest to it, and for each size found for an equal rate.
func (d *data) memoryCurves() []curve {
	ns := d.sizes(0.01, func(lib string) bool { return lib != peers.OursName })
	if len(ns) == 0 {
		return nil
	}
	n := slices.MinFunc(ns, func(a, b uint64) int {
		return int(1000 * (math.Abs(math.Log(float64(a)/1e6)) - math.Abs(math.Log(float64(b)/1e6))))
	})
	var cs []curve
	for _, l := range peers.All() {
		c := curve{name: l.Name}
		c.colour, c.marker = style(l.Name)
		for _, rate := range []float64{0.001, 0.01} {
			if bits, ok := d.equalBits(l.Name, rate); ok {
				c.points = append(c.points, plotter.XY{X: rate, Y: bits})
				continue
			}
			of := d.filterCase(l.Name, "", n, rate, "")
			if got, ok := d.of[of].fpr(); ok && got > 0 {
				c.points = append(c.points, plotter.XY{X: got, Y: d.bitsPerKey(of)})
			}
		}
		cs = append(cs, c)
	}
	return cs
}

// picture draws curves on logarithmic axes into a PNG file.
func picture(path, title, x, y string, logX bool, curves []curve) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = 3 * vg.Millimeter
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, ticks{decades: x != "bits a key"}
	if y == "bits a key" {
		p.Y.Tick.Marker = wholeTicks{}
	} else {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, ticks{}
	}
	if x == "measured false positive rate" {
		p.X.Tick.Marker = rateTicks{}
	}
	p.Add(plotter.NewGrid())
	legend := plot.NewLegend()
	legend.Top, legend.Left = true, true
	legend.YPosition = draw.PosCenter
	legend.ThumbnailWidth = 12 * vg.Millimeter
	legend.Padding = 1.2 * vg.Millimeter
	for _, c := range curves {
		line, points, err := plotter.NewLinePoints(c.points)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		line.Color = c.colour
		line.Width = vg.Points(1.6)
		if c.dashed {
			line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
		}
		points.Color, points.Radius = line.Color, vg.Points(3)
		points.Shape = c.marker
		p.Add(line, points)
		legend.Add(c.name, line, points)
	}
	p.X.Min, p.X.Max = p.X.Min/1.15, p.X.Max*1.15
	if y == "bits a key" {
		p.Y.Min, p.Y.Max = math.Floor(p.Y.Min-1), math.Ceil(p.Y.Max+1)
	} else {
		p.Y.Min, p.Y.Max = p.Y.Min/1.15, p.Y.Max*1.15
	}

	img := vgimg.NewWith(vgimg.UseWH(pictureWidth, pictureHeight), vgimg.UseDPI(140), vgimg.UseBackgroundColor(color.White))
	all := draw.New(img)
	p.Draw(draw.Crop(all, 0, -legendWidth, 0, -4*vg.Millimeter))
	legend.Draw(draw.Crop(all, pictureWidth-legendWidth+4*vg.Millimeter, 0, 0, -14*vg.Millimeter))
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := (vgimg.PngCanvas{Canvas: img}).WriteTo(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// ticks are those of a logarithmic axis: 1, 2 and 5 of each decade, or only 1.
type ticks struct{ decades bool }

func (t ticks) Ticks(min, max float64) []plot.Tick {
	var ts []plot.Tick
	for e := math.Floor(math.Log10(min)); e <= math.Ceil(math.Log10(max)); e++ {
		for m := 1; m < 10; m++ {
			v := float64(m) * math.Pow(10, e)
			if v < min || v > max {
				continue
			}
			label := ""
			if m == 1 || !t.decades && (m == 2 || m == 5) {
				label = fmt.Sprintf("%.4g", v)
				if v >= 1000 {
					label = count(uint64(v + 0.5))
				}
			}
			ts = append(ts, plot.Tick{Value: v, Label: label})
		}
	}
	return ts
}

// rateTicks label a logarithmic axis with percentages.
type rateTicks struct{}

func (rateTicks) Ticks(min, max float64) []plot.Tick {
	ts := ticks{}.Ticks(min, max)
	for i := range ts {
		switch {
		case ts[i].Label == "":
		case max > 300*min && ts[i].Label[len(ts[i].Label)-1] == '2':
			ts[i].Label = "" // no room
		default:
			ts[i].Label = fmt.Sprintf("%.4g%%", 100*ts[i].Value)
		}
	}
	return ts
}

// wholeTicks are the whole numbers.
type wholeTicks struct{}

func (wholeTicks) Ticks(min, max float64) []plot.Tick {
	var ts []plot.Tick
	for v := math.Ceil(min); v <= max; v++ {
		ts = append(ts, plot.Tick{Value: v, Label: fmt.Sprint(v)})
	}
	return ts
}
