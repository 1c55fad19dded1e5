package dialect

import (
	"strconv"
	"strings"
)

// is gives a value of one type.
func is(t Type) Result {
	return Result{Words: t.Name(), Of: func([]Type) (Type, Fit) { return t, Fits }}
}

// guarded gives a value of one type, unless the engine finds it out of range.
func guarded(t Type) Result {
	return Result{Words: t.Name(), Of: func([]Type) (Type, Fit) { return t, Guarded }}
}

var (
	booleanResult = is(Plain(boolOID))
	textResult    = Result{"text", func(args []Type) (Type, Fit) { return TextOf(args...), Fits }}
	guardedText   = Result{"text", func(args []Type) (Type, Fit) { return TextOf(args...), Guarded }}
	firstResult   = Result{"that of the argument", func(args []Type) (Type, Fit) { return args[0], Fits }}
	widerResult   = Result{"the wider type", func(args []Type) (Type, Fit) { return Plain(wider(args)), Fits }}
	wideResult    = is(WideNumeric())
	sumResult     = Result{"numeric, scale max(s1, s2)", addition}
	productResult = Result{"numeric, scale s1 + s2", multiplication}
	quotientWords = Result{"numeric, scale by select_div_scale", division}
	totalResult   = Result{"numeric, scale s", total}
	sameText      = Result{"that of the argument", func(args []Type) (Type, Fit) {
		if args[0].IsText() {
			return TextOf(args[0]), Fits
		}
		return args[0], Fits
	}}
)

// roundedTo has the scale that an argument says, a literal; 0 where the entry has no such argument. There may be one more digit
// before the point.
func roundedTo(argument int) Result {
	return Result{"numeric, of that scale", func(args []Type) (Type, Fit) {
		w, s, ok := args[0].Digits()
		scale := 0
		if argument > 0 {
			scale, _ = strconv.Atoi(args[argument].Text)
		}
		if scale < s {
			w++
		}
		if !ok || w+scale > MostDigits {
			return Type{}, Misfit
		}
		return bounded(w, scale)
	}}
}

func wider(args []Type) uint32 {
	for _, oid := range []uint32{int8OID, int4OID} {
		for _, a := range args {
			if a.OID == oid {
				return oid
			}
		}
	}
	return int2OID
}

// decimals returns the digits of two numbers, false where one has no decimal form.
func decimals(args []Type) (whole, scale [2]int, ok bool) {
	for i := range whole {
		if whole[i], scale[i], ok = args[i].Digits(); !ok {
			return whole, scale, false
		}
	}
	return whole, scale, true
}

// bounded is a decimal of so many digits, or of the most there are where the engine checks the bounds.
func bounded(whole, scale int) (Type, Fit) {
	switch {
	case scale > MostDigits:
		return Type{}, Misfit
	case whole+scale > MostDigits:
		return Decimal(MostDigits, scale), Guarded
	}
	return Decimal(max(whole+scale, 1), scale), Fits
}

func addition(args []Type) (Type, Fit) {
	w, s, ok := decimals(args)
	if !ok {
		return Type{}, Misfit
	}
	t, fit := bounded(max(w[0], w[1])+1, max(s[0], s[1]))
	if t.Loose = args[0].Loose && s[0] > s[1] || args[1].Loose && s[1] > s[0] || args[0].Loose && args[1].Loose; t.Loose {
		t.Dynamic = dynamic("greatest(", ", ", args)
	}
	return t, fit
}

func multiplication(args []Type) (Type, Fit) {
	w, s, ok := decimals(args)
	if !ok {
		return Type{}, Misfit
	}
	t, fit := bounded(w[0]+w[1], s[0]+s[1])
	if t.Loose = args[0].Loose || args[1].Loose; t.Loose {
		t.Dynamic = dynamic("(", " + ", args)
	}
	return t, fit
}

// dynamic is the scale that a value computed from two others is displayed with.
func dynamic(open, between string, args []Type) string {
	var parts []string
	for _, a := range args {
		_, scale, _ := a.Digits()
		part := strconv.Itoa(scale)
		if a.Loose {
			part = a.Dynamic
		}
		if part == "" {
			return ""
		}
		parts = append(parts, part)
	}
	return open + strings.Join(parts, between) + ")"
}

// division hides it when a value displays with a smaller scale, where the other's is the larger one.
func division(args []Type) (Type, Fit) {
	_, a, _ := args[0].Digits()
	_, b, _ := args[1].Digits()
	hidden := func(t Type) bool { return t.Loose && t.Dynamic == "" }
	if hidden(args[0]) && (b < a || args[1].Loose || args[1].Wide) || hidden(args[1]) && (a < b || args[0].Loose || args[0].Wide) {
		return Type{}, Misfit
	}
	return WideNumeric(), Fits
}

// total is what a sum comes to: of less than 10^18 values it needs no more than 18 digits more than they have.
func total(args []Type) (Type, Fit) {
	w, s, ok := args[0].Digits()
	if !ok {
		return Type{}, Misfit
	}
	t, fit := bounded(w+18, s)
	if _, _, decimal := t.Decimal(); decimal {
		t.Typmod = Decimal(MostDigits, s).Typmod // which is what the engine yields
	}
	t.Loose, t.Dynamic = args[0].Loose, args[0].Dynamic
	return t, fit
}
