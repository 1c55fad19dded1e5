package plan

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser/dialect"
)

// shipper prints parts of a statement for one engine, as far as they are proven to mean there what they mean here.
type shipper struct {
	b        *builder
	d        dialect.Dialect
	simple   dialect.Simple   // d, where its engine gets simple statements alone; else nil
	typer    dialect.Typed    // d, where its engine is given values of more types than integers and texts; else nil
	quirky   dialect.Quirky   // d, where its engine has quirks; else nil
	forms    dialect.Form     // what it reads beyond those
	nester   dialect.Nester   // d, where its engine joins sub-selects alone; else nil
	standard dialect.Standard // d, where its engine has the standard's words alone; else nil
	params   []int            // statement parameters in the order of the placeholders
	places   map[int]int      // of each parameter in params, where it still stands there
	reason   string           // the first thing that cannot be shipped
	// guarded says that the engine may raise an error for values that Postgres computes with: home then does it all.
	guarded bool
	// raises says that it may raise one where Postgres does: which rows it comes to is the plan's affair.
	raises  bool
	narrow  bool    // that may be
	typmods []int32 // Plan.Typmods
	exposure
	midnights map[string]string // of printed timestamps at midnight, the dates
	taken     map[string]bool   // relation aliases in use, in lower case: DuckDB's names do not differ by case
	made      int               // how many names are made up
	visible   []scopeRelation   // common table expressions that sub-selects of a join see
	feeds     bool              // relations are read from the statement's inputs
	rule      bool              // names mean what they do under the search path pg_catalog
}

func (b *builder) newShipper(d dialect.Dialect) *shipper {
	simple, _ := d.(dialect.Simple)
	typer, _ := d.(dialect.Typed)
	quirky, _ := d.(dialect.Quirky)
	standard, _ := d.(dialect.Standard)
	nester, _ := d.(dialect.Nester)
	s := &shipper{b: b, d: d, simple: simple, typer: typer, quirky: quirky, nester: nester, standard: standard, places: map[int]int{}, midnights: map[string]string{}, taken: map[string]bool{}}
	if broad, ok := d.(dialect.Broad); ok {
		s.forms = broad.Forms()
	}
	return s
}

// lacks reports whether the dialect's engine does without something.
func (s *shipper) lacks(what dialect.Lack) bool {
	return s.standard != nil && s.standard.Lacks()&what != 0
}

// shadowed reports whether the name of a function or an operator of pg_catalog may mean another one.
func (s *shipper) shadowed(name string) bool { return !s.rule && s.b.req.Snapshot.Shadows[name] }

// no notes why something is not shipped.
func (s *shipper) no(format string, args ...any) (string, typ, bool) {
	if s.reason == "" {
		s.reason = fmt.Sprintf(format, args...)
	}
	return "", typ{}, false
}

// unproven notes what may mean something else to the engine.
func (s *shipper) unproven(format string, args ...any) (string, typ, bool) {
	return s.no("%s is not proven equal on %s", fmt.Sprintf(format, args...), s.d.Name())
}

// expression prints an expression and says what type it has.
func (s *shipper) expression(n *pg_query.Node, e *scope) (string, typ, bool) {
	mark := len(s.params)
	sql, t, ok := s.node(n, e)
	return s.folded(sql, t, ok, mark, n)
}

func (s *shipper) node(n *pg_query.Node, e *scope) (string, typ, bool) {
	if oid := s.clockType(n); oid != 0 {
		return s.moment(n, oid)
	}
	if oid := s.pageType(n); oid != 0 {
		return s.moment(n, oid)
	}
	if s.simple != nil && !s.isSimple(n) {
		return s.unproven("%s", describe(n))
	}
	if s.quirky != nil && n.GetSubLink() != nil {
		return s.unproven("a sub-select for its value")
	}
	if s.quirky != nil && (n.GetBoolExpr() != nil || n.GetBooleanTest() != nil || isCompound(n)) {
		return s.valued(n, e)
	}
	switch n := n.GetNode().(type) {
	case *pg_query.Node_ColumnRef:
		if c, ok := e.column(n.ColumnRef.Fields); ok {
			s.exposeColumns(c)
			return c.sql, c.typ, true
		}
		return s.no("a reference to a row as a whole or to a column that is not the server's is evaluated at home")
	case *pg_query.Node_AConst:
		return s.constant(n.AConst)
	case *pg_query.Node_ParamRef:
		return s.parameter(int(n.ParamRef.Number))
	case *pg_query.Node_TypeCast:
		if s.simple != nil && n.TypeCast.Arg.GetAConst().GetSval() == nil && isTypedLiteral(n.TypeCast) {
			return s.typedNumber(n.TypeCast)
		}
		return s.cast(n.TypeCast, e)
	case *pg_query.Node_BoolExpr:
		return s.logic(n.BoolExpr, e)
	case *pg_query.Node_NullTest:
		arg, t, ok := s.expression(n.NullTest.Arg, e)
		if ok && t.Askew {
			return s.unproven("IS NULL over %s", t.Name())
		}
		if ok && mayBeRow(t) {
			return s.unproven("IS NULL over what may be a row")
		}
		test := " IS NULL)"
		if n.NullTest.Nulltesttype == pg_query.NullTestType_IS_NOT_NULL {
			test = " IS NOT NULL)"
		}
		return "(" + arg + test, boolean, ok
	case *pg_query.Node_BooleanTest:
		return s.booleanTest(n.BooleanTest, e)
	case *pg_query.Node_AExpr:
		return s.operator(n.AExpr, e)
	case *pg_query.Node_FuncCall:
		return s.function(n.FuncCall, e)
	case *pg_query.Node_CoalesceExpr:
		return s.coalesce(n.CoalesceExpr, e)
	case *pg_query.Node_GroupingFunc:
		return s.groupingFunc(n.GroupingFunc, e)
	case *pg_query.Node_MinMaxExpr:
		return s.extreme(n.MinMaxExpr, e)
	case *pg_query.Node_CaseExpr:
		return s.caseExpr(n.CaseExpr, e)
	case *pg_query.Node_SubLink:
		return s.subLink(n.SubLink, e)
	}
	return s.unproven("%s", describe(n))
}

func (s *shipper) constant(c *pg_query.A_Const) (string, typ, bool) {
	switch {
	case c.Isnull:
		return "NULL", unknown, true
	case c.GetBoolval() != nil:
		if s.typer != nil {
			if sql, ok := s.typer.Constant(strconv.FormatBool(c.GetBoolval().Boolval), boolean); ok {
				return sql, boolean, true
			}
		}
		return strconv.FormatBool(c.GetBoolval().Boolval), boolean, true
	case c.GetIval() != nil:
		return strconv.Itoa(int(c.GetIval().Ival)), dialect.Plain(int4OID), true
	case c.GetFval() != nil:
		return s.number(c.GetFval().Fval)
	case c.GetSval() != nil:
		if strings.ContainsRune(c.GetSval().Sval, 0) {
			break
		}
		return s.d.Literal(c.GetSval().Sval), unknown, true
	}
	return s.unproven("a bit string")
}

var decimalText = regexp.MustCompile(`^(-?)(\d{0,18})(?:\.(\d{0,18}))?$`)

// number prints a literal that is no int4: an int8 or a numeric.
func (s *shipper) number(text string) (string, typ, bool) {
	if _, err := strconv.ParseInt(text, 10, 64); err == nil && s.quirky != nil {
		return text, dialect.Plain(int8OID), true
	} else if err == nil {
		return "CAST(" + text + " AS " + s.d.Type(int8OID, -1) + ")", dialect.Plain(int8OID), true
	}
	plain := positional(text)
	if !decimalText.MatchString(plain) {
		return s.unproven("the number %s", text)
	}
	return s.decimalLiteral(plain, dialect.WideNumeric())
}

// positional spells a number without an exponent, where that makes it no longer than the numbers that are shipped.
func positional(text string) string {
	mantissa, power, ok := strings.Cut(strings.ToLower(text), "e")
	exponent, err := strconv.Atoi(power)
	if !ok || err != nil || exponent < -18 || exponent > 18 {
		return text
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if exponent < 0 {
		zeros := strings.Repeat("0", max(-exponent-len(whole), 0))
		whole = zeros + whole
		at := len(whole) + exponent
		return whole[:at] + "." + whole[at:] + fraction
	}
	fraction += strings.Repeat("0", max(exponent-len(fraction), 0))
	if whole += fraction[:exponent]; len(fraction) > exponent {
		return whole + "." + fraction[exponent:]
	}
	return whole
}

// parameter prints a placeholder. Its value comes as text, in the form that home writes.
func (s *shipper) parameter(n int) (string, typ, bool) {
	if n < 1 || n > len(s.b.req.Params) {
		return s.no("parameter $%d is not known", n)
	}
	return s.placed(n, s.b.req.Params[n-1])
}

// placed prints a placeholder for a value that has a number.
func (s *shipper) placed(n int, oid uint32) (string, typ, bool) {
	if s.b.req.HoldParams {
		return s.no("parameter $%d has a value that is read at home", n)
	}
	t := dialect.Plain(oid)
	t.Bytewise, t.Exact, t.Wide = true, true, t.OID == numericOID
	if t.Wide && s.typer == nil { // NaN and infinity are beyond what is computed there
		s.guarded = true
	}
	if s.simple != nil && s.typer == nil && !t.IsInt() && !binds(s.d, t) {
		return s.no("a parameter of this type is evaluated at home")
	}
	if !t.IsInt() && !t.IsText() && !t.IsFloat() && !t.Sortable() {
		return s.no("a parameter of this type is evaluated at home")
	}
	if set := s.b.req.Settings.DateStyle; set != "" && !strings.HasPrefix(set, "ISO") && isDateTime(t.OID) {
		return s.no("a date under DateStyle %s is evaluated at home", set)
	}
	if s.typer != nil {
		return s.valueParameter(n, t)
	}
	return "CAST($" + s.place(n) + " AS " + s.d.Type(t.OID, t.Typmod) + ")", t, true
}

// place returns where a value that has a number is bound: in one place, so that equal expressions print equal.
func (s *shipper) place(n int) string {
	place, ok := s.places[n]
	if !ok || place >= len(s.params) || s.params[place] != n {
		place = len(s.params)
		s.params = append(s.params, n)
		s.places[n] = place
	}
	return strconv.Itoa(place + 1)
}

func isDateTime(oid uint32) bool {
	return oid == dateOID || oid == timestampOID || oid == timestamptzOID
}

// literalForms are the spellings of constants that DuckDB reads as Postgres does, whatever the session's settings are.
var literalForms = map[uint32]*regexp.Regexp{
	int2OID:      regexp.MustCompile(`^-?\d{1,4}$`),
	int4OID:      regexp.MustCompile(`^-?\d{1,9}$`),
	int8OID:      regexp.MustCompile(`^-?\d{1,18}$`),
	boolOID:      regexp.MustCompile(`^(t|f|true|false)$`),
	dateOID:      regexp.MustCompile(`^[12]\d{3}-\d{2}-\d{2}$`),
	timestampOID: regexp.MustCompile(`^[12]\d{3}-\d{2}-\d{2}( ([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?)?$`),
	timestamptzOID: regexp.MustCompile(`^[12]\d{3}-\d{2}-\d{2} ([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?` +
		`[+-](0\d|1[0-2])(:[0-5]\d)?$`),
	uuidOID: regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`),
}

func isDay(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// typed prints an expression where type want is wanted: an untyped literal takes on that type.
func (s *shipper) typed(n *pg_query.Node, e *scope, want typ) (string, typ, bool) {
	c := n.GetAConst()
	if c == nil || c.GetSval() == nil {
		return s.expression(n, e)
	}
	text := c.GetSval().Sval
	t := dialect.Plain(want.OID)
	switch {
	case want.OID == bpcharOID: // whose blanks at the end are no part of it
		t.Bytewise, t.Exact = true, true
		return s.d.Literal(strings.TrimRight(text, " ")), t, !strings.ContainsRune(text, 0)
	case want.IsText():
		t.OID, t.Bytewise, t.Exact = textOID, true, true
		return s.d.Literal(text), t, !strings.ContainsRune(text, 0)
	case want.OID == numericOID:
		return s.decimalLiteral(text, dialect.WideNumeric())
	}
	form := literalForms[want.OID]
	if s.zoned(want.OID, text) {
		return s.moment(&pg_query.Node{Node: &pg_query.Node_TypeCast{TypeCast: &pg_query.TypeCast{Arg: n, TypeName: paramTypes[want.OID], Location: -1}}}, want.OID)
	}
	if form == nil || !form.MatchString(text) || isDateTime(want.OID) && !isDay(text[:len(time.DateOnly)]) {
		return s.no("the literal %s is read at home", s.d.Literal(text))
	}
	if s.typer != nil {
		sql, ok := s.typer.Constant(text, t)
		if !ok {
			return s.unproven("the literal %s", s.d.Literal(text))
		}
		return sql, t, true
	}
	return "CAST(" + s.d.Literal(text) + " AS " + s.d.Type(t.OID, -1) + ")", t, true
}

func lastName(names []*pg_query.Node) string {
	if len(names) == 0 {
		return ""
	}
	return names[len(names)-1].GetString_().GetSval()
}

func (s *shipper) logic(b *pg_query.BoolExpr, e *scope) (string, typ, bool) {
	parts := make([]string, len(b.Args))
	nulls := 0
	for i, a := range b.Args {
		sql, t, ok := s.expression(s.yes(a), e)
		if !ok {
			return "", typ{}, false
		}
		if t.Null {
			nulls++
		}
		if !s.tests(sql, t) {
			return s.no("a condition that is decided is evaluated at home")
		}
		if t.OID != boolOID && sql != "NULL" {
			return s.no("a condition that is no boolean is evaluated at home")
		}
		parts[i] = sql
	}
	switch {
	case nulls == len(parts):
		return s.null(boolean)
	case b.Boolop == pg_query.BoolExprType_NOT_EXPR && e.grouped && s.quirky != nil && !s.quirky.Truth():
		return s.unproven("NOT over what is grouped")
	case b.Boolop == pg_query.BoolExprType_NOT_EXPR && e.grouped: // an engine may turn NOT a = b into a <> b, which is no group any more
		return "(" + parts[0] + " = false)", boolean, true
	case b.Boolop == pg_query.BoolExprType_NOT_EXPR:
		return "(NOT " + parts[0] + ")", boolean, true
	case b.Boolop == pg_query.BoolExprType_OR_EXPR:
		return "(" + strings.Join(parts, " OR ") + ")", boolean, true
	default:
		return "(" + strings.Join(parts, " AND ") + ")", boolean, true
	}
}

var booleanTests = map[pg_query.BoolTestType]string{
	pg_query.BoolTestType_IS_TRUE: "IS NOT DISTINCT FROM true", pg_query.BoolTestType_IS_NOT_TRUE: "IS DISTINCT FROM true",
	pg_query.BoolTestType_IS_FALSE: "IS NOT DISTINCT FROM false", pg_query.BoolTestType_IS_NOT_FALSE: "IS DISTINCT FROM false",
	pg_query.BoolTestType_IS_UNKNOWN: "IS NULL", pg_query.BoolTestType_IS_NOT_UNKNOWN: "IS NOT NULL",
}

func (s *shipper) booleanTest(b *pg_query.BooleanTest, e *scope) (string, typ, bool) {
	arg, t, ok := s.expression(b.Arg, e)
	if !ok || t.OID != boolOID || s.simple != nil && t.Opaque {
		return s.no("this test is evaluated at home")
	}
	return "(" + arg + " " + booleanTests[b.Booltesttype] + ")", boolean, true
}
