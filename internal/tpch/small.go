package tpch

import (
	"fmt"
	"strings"
)

// scale is a scale factor: how many times the sizes of TPC-H 4.2.5 a table has.
type scale float64

// of returns a table's number of rows, at least one of each remainder that keys are spread over.
func (s scale) of(rows int) int { return max(int(float64(rows)*float64(s)), 10) }

func (s scale) suppliers() int { return s.of(10_000) }
func (s scale) parts() int     { return s.of(200_000) }
func (s scale) customers() int { return s.of(150_000) }
func (s scale) orders() int    { return s.of(1_500_000) }

// The tables' numbers, for rowRandom.
const (
	regionTable = iota + 1
	nationTable
	supplierTable
	partTable
	partSupplierTable
	customerTable
	orderTable
)

func writeRegions(w *rowWriter, _ scale) {
	for i, name := range regions {
		w.int(i)
		w.text(name)
		w.text(rowRandom(regionTable, i).comment(152))
		w.end()
	}
}

func writeNations(w *rowWriter, _ scale) {
	for i, n := range nations {
		w.int(i)
		w.text(n.name)
		w.int(n.region)
		w.text(rowRandom(nationTable, i).comment(152))
		w.end()
	}
}

// writeSuppliers marks five in ten thousand for complaints, which query 16 leaves out, and as many for praise.
func writeSuppliers(w *rowWriter, s scale) {
	for k := 1; k <= s.suppliers(); k++ {
		r := rowRandom(supplierTable, k)
		nation := r.IntN(len(nations))
		w.int(k)
		w.text(fmt.Sprintf("Supplier#%09d", k))
		w.text(r.address())
		w.int(nation)
		w.text(r.phone(nation))
		w.cents(r.between(-99_999, 999_999))
		comment := r.comment(70)
		switch k % 2000 {
		case 7:
			comment += " Customer slow Complaints"
		case 8:
			comment += " Customer quiet Recommends"
		}
		w.text(comment)
		w.end()
	}
}

func writeParts(w *rowWriter, s scale) {
	for k := 1; k <= s.parts(); k++ {
		r := rowRandom(partTable, k)
		names := make([]string, 5)
		for i, c := range r.Perm(len(colors))[:5] {
			names[i] = colors[c]
		}
		maker := r.between(1, 5)
		w.int(k)
		w.text(strings.Join(names, " "))
		w.text(fmt.Sprintf("Manufacturer#%d", maker))
		w.text(fmt.Sprintf("Brand#%d%d", maker, r.between(1, 5)))
		w.text(r.pick(typeSizes) + " " + r.pick(typeFinishes) + " " + r.pick(typeMetals))
		w.int(r.between(1, 50))
		w.text(r.pick(containerSizes) + " " + r.pick(containerKinds))
		w.cents(retailPrice(k))
		w.text(r.comment(23))
		w.end()
	}
}

// retailPrice is p_retailprice of a part, in hundredths.
func retailPrice(part int) int { return 90_000 + part/10%20_001 + 100*(part%1000) }

// supplierOf is the key of the i-th (0 … 3) supplier of a part.
func supplierOf(part, i, suppliers int) int {
	return (part+i*(suppliers/4+(part-1)/suppliers))%suppliers + 1
}

func writePartSuppliers(w *rowWriter, s scale) {
	suppliers := s.suppliers()
	for k := 1; k <= s.parts(); k++ {
		r := rowRandom(partSupplierTable, k)
		for i := range 4 {
			w.int(k)
			w.int(supplierOf(k, i, suppliers))
			w.int(r.between(1, 9999))
			w.cents(r.between(100, 100_000))
			w.text(r.comment(199))
			w.end()
		}
	}
}

func writeCustomers(w *rowWriter, s scale) {
	for k := 1; k <= s.customers(); k++ {
		r := rowRandom(customerTable, k)
		nation := r.IntN(len(nations))
		w.int(k)
		w.text(fmt.Sprintf("Customer#%09d", k))
		w.text(r.address())
		w.int(nation)
		w.text(r.phone(nation))
		w.cents(r.between(-99_999, 999_999))
		w.text(r.pick(segments))
		w.text(r.comment(117))
		w.end()
	}
}
