package tpch

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// random is the source of one row's values: it depends on the table and the row alone.
type random struct{ *rand.Rand }

func rowRandom(table, row int) random {
	return random{rand.New(rand.NewPCG(uint64(table), uint64(row)))}
}

// between returns a number of low … high.
func (r random) between(low, high int) int { return low + r.IntN(high-low+1) }

func (r random) pick(words []string) string { return words[r.IntN(len(words))] }

// comment returns words of at most limit characters in all.
func (r random) comment(limit int) string {
	var b strings.Builder
	for n := r.between(limit*2/5, limit); ; {
		word := r.pick(vocabulary)
		if b.Len()+len(word)+1 > n {
			break
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	if b.Len() == 0 {
		return "so"
	}
	return b.String()
}

const addressLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789,"

func (r random) address() string {
	b := make([]byte, r.between(10, 40))
	for i := range b {
		b[i] = addressLetters[r.IntN(len(addressLetters))]
	}
	return string(b)
}

// phone returns a number whose first two digits tell the nation (TPC-H 4.2.2.9).
func (r random) phone(nation int) string {
	return fmt.Sprintf("%d-%d-%d-%d", nation+10, r.between(100, 999), r.between(100, 999), r.between(1000, 9999))
}
