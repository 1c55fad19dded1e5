package tpch

import (
	"fmt"
	"time"
)

// The days of TPC-H 4.2.3, counted from the first.
var (
	firstDay   = time.Date(1992, 1, 1, 0, 0, 0, 0, time.UTC)
	currentDay = dayOf(1995, 6, 17)
	lastOrder  = dayOf(1998, 8, 2)
)

func dayOf(year int, month time.Month, day int) int {
	return int(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Sub(firstDay) / (24 * time.Hour))
}

// lineItem is one item of an order. Money is in hundredths, discount and tax in per cent.
type lineItem struct {
	part, supplier, quantity, price, discount, tax int
	shipped, committed, received                   int
	instruction, mode, comment                     string
}

// order is one order with its items.
type order struct {
	key, customer, day       int
	priority, clerk, comment string
	items                    []lineItem
}

// orderOf makes the n-th order, from 1. Of 32 keys the first eight are used, and no order is of a customer whose key
// three divides.
func orderOf(n int, s scale) order {
	r := rowRandom(orderTable, n)
	o := order{key: (n-1)/8*32 + (n-1)%8 + 1, day: r.between(0, lastOrder), priority: r.pick(priorities)}
	for o.customer = 3; o.customer%3 == 0; {
		o.customer = r.between(1, s.customers())
	}
	o.clerk = fmt.Sprintf("Clerk#%09d", r.between(1, max(int(1000*float64(s)), 1)))
	o.comment = r.comment(79)
	o.items = make([]lineItem, r.between(1, 7))
	for i := range o.items {
		o.items[i] = r.lineItem(o.day, s)
	}
	return o
}

func (r random) lineItem(ordered int, s scale) lineItem {
	l := lineItem{
		part: r.between(1, s.parts()), quantity: r.between(1, 50), discount: r.between(0, 10), tax: r.between(0, 8),
		shipped: ordered + r.between(1, 121), committed: ordered + r.between(30, 90),
		instruction: r.pick(instructions), mode: r.pick(modes), comment: r.comment(44),
	}
	l.supplier = supplierOf(l.part, r.IntN(4), s.suppliers())
	l.price = l.quantity * retailPrice(l.part)
	l.received = l.shipped + r.between(1, 30)
	return l
}

// status is O for an order none of whose items is shipped, F where all are, else P.
func (o order) status() string {
	open := 0
	for _, l := range o.items {
		if l.shipped > currentDay {
			open++
		}
	}
	switch open {
	case 0:
		return "F"
	case len(o.items):
		return "O"
	}
	return "P"
}

// total is the sum of the items' prices with tax and discount, in hundredths.
func (o order) total() int {
	total := 0
	for _, l := range o.items {
		total += l.price * (100 + l.tax) * (100 - l.discount)
	}
	return total / 10_000
}

func writeOrders(w *rowWriter, s scale) {
	for n := 1; n <= s.orders(); n++ {
		o := orderOf(n, s)
		w.int(o.key)
		w.int(o.customer)
		w.text(o.status())
		w.cents(o.total())
		w.date(o.day)
		w.text(o.priority)
		w.text(o.clerk)
		w.int(0)
		w.text(o.comment)
		w.end()
	}
}

func writeLineItems(w *rowWriter, s scale) {
	for n := 1; n <= s.orders(); n++ {
		o := orderOf(n, s)
		for i, l := range o.items {
			l.write(w, o.key, i+1)
		}
	}
}

func (l lineItem) write(w *rowWriter, key, number int) {
	returned, status := "N", "F"
	if l.shipped > currentDay {
		status = "O"
	}
	if l.received <= currentDay {
		returned = "A"
		if (key+number)%2 == 0 {
			returned = "R"
		}
	}
	w.int(key)
	w.int(l.part)
	w.int(l.supplier)
	w.int(number)
	w.cents(l.quantity * 100)
	w.cents(l.price)
	w.cents(l.discount)
	w.cents(l.tax)
	w.text(returned)
	w.text(status)
	w.date(l.shipped)
	w.date(l.committed)
	w.date(l.received)
	w.text(l.instruction)
	w.text(l.mode)
	w.text(l.comment)
	w.end()
}
