package catalog

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/pgerr"
)

// Rule is a row filter, or the mask of a column, that holds for q's current role. The expression reads as under the search
// path pg_catalog; its columns are the relation's, bare or qualified by its name.
type Rule struct {
	Column     string // empty: a row filter
	Expression string
}

// Value is what home finds an expression of a rule to be that names no column of the relation.
type Value struct {
	Value         *string // nil for NULL
	Type          string  // its name
	Code, Message string  // the error that it has met; empty for none
}

// Parts are expressions in the rules of a version, as Values come of them. The zero value is for who knows of none.
type Parts struct {
	Version     string
	Expressions []string
}

// Rules are those for reading a relation as the current role.
type Rules struct {
	List   []Rule
	Parts  Parts   // of the version at hand
	Values []Value // of Parts
}

// RulesSQL asks for the rules of a relation, and for the values of the parts that are known in them. Home's answer is one
// text, which says the same for the same rules and values.
func RulesSQL(relation uint32, known Parts) string {
	if known.Version == "" {
		return "SELECT sluice.rules(" + number(relation) + ")"
	}
	list := make([]string, len(known.Expressions))
	for i, e := range known.Expressions {
		list[i] = asciiLiteral(e)
	}
	return "SELECT sluice.rules(" + number(relation) + ", " + known.Version + ", ARRAY[" + strings.Join(list, ", ") + "]::pg_catalog.text[])"
}

// AskRules asks as RulesSQL says.
func AskRules(ctx context.Context, q Querier, relation uint32, known Parts) (answer string, err error) {
	rows, err := q.Query(ctx, RulesSQL(relation, known))
	return text(rows, 0, 0), err
}

// rulesDoc is the document that sluice.rules() returns, in base64.
type rulesDoc struct {
	Rules   []Rule
	Version *int64
	Values  []Value
	Denied  string
}

// ReadRules reads what home has answered to RulesSQL with the parts given.
func ReadRules(answer string, known Parts) (*Rules, error) {
	var doc rulesDoc
	document, err := base64.StdEncoding.DecodeString(answer)
	if err == nil {
		err = json.Unmarshal(document, &doc)
	}
	switch {
	case err != nil:
		return nil, pgerr.Hint(pgerr.New(pgerr.ObjectNotInPrerequisite, "cannot read rules of extension \"sluice\": %v", err),
			"Run ALTER EXTENSION sluice UPDATE as a superuser.")
	case doc.Denied != "":
		return nil, pgerr.New(pgerr.InsufficientPrivilege, "%s", doc.Denied)
	}
	r := &Rules{List: doc.Rules}
	if doc.Version != nil {
		r.Parts.Version = strconv.FormatInt(*doc.Version, 10)
	}
	if r.Parts.Version == known.Version && len(doc.Values) == len(known.Expressions) {
		r.Parts.Expressions, r.Values = known.Expressions, doc.Values
	}
	return r, nil
}
