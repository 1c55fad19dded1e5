package ddl

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/guard"
	"github.com/sluicedb/sluice/parser/dialect"
	"github.com/sluicedb/sluice/pgerr"
)

// object is one SQL/MED object whose options are checked.
type object struct {
	kind    engines.ObjectKind
	title   string // for messages: `server "lake"`
	wrapper engines.Wrapper

	present map[string]string // options that it has
	known   bool              // whether present is known: then the whole is checked, else the changes alone
}

// common are options of servers of any wrapper, which engines do not heed.
var common = []engines.Option{{
	Name: dialect.Pushdown, Doc: "false: the server is sent names of columns alone, and computes nothing", Check: engines.CheckBool,
}, {
	Name: "stream", Doc: "required: the server must be certified to stream", Check: func(v string) error {
		if v != "required" {
			return errors.New("the valid value is required")
		}
		return nil
	},
}}

// commonOf are those of a wrapper. A Postgres has no way to compute nothing.
func commonOf(w engines.Wrapper) []engines.Option {
	return slices.DeleteFunc(slices.Clone(common), func(o engines.Option) bool { return o.Name == dialect.Pushdown && w.Name() == "sluice_postgres" })
}

// check looks at the options of a CREATE or ALTER. What home refuses by itself (an option given twice, SET or
// DROP of one that is not there) is left to home.
func (o object) check(list []*pg_query.Node) ([]*pgconn.PgError, error) {
	options := o.wrapper.Options(o.kind)
	if o.kind == engines.ServerObject {
		options = slices.Concat(options, commonOf(o.wrapper), guard.Options)
	}
	merged := maps.Clone(o.present)
	if merged == nil {
		merged = map[string]string{}
	}
	var notices []*pgconn.PgError
	for _, node := range list {
		e := node.GetDefElem()
		name, value := e.GetDefname(), e.GetArg().GetString_().GetSval()
		i := slices.IndexFunc(options, func(p engines.Option) bool { return p.Name == name })
		if e.GetDefaction() == pg_query.DefElemAction_DEFELEM_DROP {
			delete(merged, name)
			continue
		}
		if i < 0 {
			return nil, unknownOption(name, options)
		}
		if err := checkValue(options[i], value); err != nil {
			return nil, err
		}
		if IsSecret(name) && value != "" && !isReference(value) {
			notices = append(notices, o.clear(name))
		}
		merged[name] = value
	}
	if !o.known {
		return notices, nil
	}
	return notices, o.checkWhole(options, merged)
}

// checkWhole looks at all options together.
func (o object) checkWhole(options []engines.Option, merged map[string]string) error {
	for _, p := range options {
		if _, given := merged[p.Name]; p.Required && !given {
			err := pgerr.New(pgerr.FdwOptionNotFound, "option %q is required for %s", p.Name, o.title)
			if p.Doc == "" {
				return err
			}
			return pgerr.Hint(err, "Add OPTIONS (%s '…'): %s.", p.Name, p.Doc)
		}
	}
	return asPgError(o.wrapper.Check(o.kind, merged), pgerr.FdwInvalidOption, "invalid options for "+o.title)
}

func checkValue(option engines.Option, value string) error {
	if IsSecret(option.Name) && isReference(value) {
		return checkReference(value)
	}
	if option.Check == nil {
		return nil
	}
	return asPgError(option.Check(value), pgerr.InvalidParameter, "invalid value for option \""+option.Name+"\"")
}

// asPgError returns a Postgres error as it is, and puts a message before the text of any other; nil for nil.
func asPgError(err error, code, message string) error {
	var pe *pgconn.PgError
	if err == nil || errors.As(err, &pe) {
		return err
	}
	return pgerr.New(code, "%s: %s", message, err.Error())
}

func unknownOption(name string, options []engines.Option) error {
	err := pgerr.New(pgerr.FdwInvalidOption, "invalid option %q", name)
	if len(options) == 0 {
		return pgerr.Hint(err, "There are no valid options in this context.")
	}
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = o.Name
	}
	return pgerr.Hint(err, "Valid options in this context are: %s", strings.Join(names, ", "))
}

// clear warns of a secret in clear text.
func (o object) clear(option string) *pgconn.PgError {
	return warning(
		"Use "+option+" 'env:NAME' or "+option+" 'file:PATH': the proxy looks it up there.",
		"option %q of %s is stored in clear text, where dumps and other users can read it", option, o.title)
}
