package fake

import (
	"context"
	"regexp"
	"strings"

	rest "google.golang.org/api/bigquery/v2"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// reserved are names that the service keeps for itself: those of pseudo-columns are read, and are given to no column of a result.
var reserved = regexp.MustCompile(`(?i)^(_TABLE_|_FILE_|_PARTITION|_ROW_TIMESTAMP|__ROOT__|_COLIDENTIFIER)`)

// hides reports whether a column is a pseudo-column of a table that is parted by when rows came in, which has it beside its schema.
func hides(t *rest.Table, column string) bool {
	return t.TimePartitioning != nil && t.TimePartitioning.Field == "" && reserved.MatchString(column)
}

// parted is a comparison with the partition in a condition.
var parted = regexp.MustCompile("(?s)WHERE.*`(_PARTITIONTIME|_PARTITIONDATE)` (=|<|<=|>|>=|IN|BETWEEN) ")

// unfiltered says what is wrong with a statement that reads a table without the condition on the partition that this requires.
func (p *Project) unfiltered(sql string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, t := range p.details {
		dataset, table, _ := strings.Cut(name, ".")
		if t.RequirePartitionFilter && hides(&t, "_PARTITIONTIME") && strings.Contains(sql, "`"+dataset+"`.`"+table+"`") && !parted.MatchString(sql) {
			return "Cannot query over table '" + Name + "." + name + "' without a filter over column(s) '_PARTITION_LOAD_TIME', '_PARTITIONDATE', '_PARTITIONTIME' that can be used for partition elimination"
		}
	}
	return ""
}

// open begins to compute a statement, whose result is a table.
func (p *Project) open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	s, err := p.duck.Open(ctx, q)
	if err != nil {
		return nil, err
	}
	for _, f := range s.Fields() {
		if reserved.MatchString(f.Name) {
			_ = s.Close()
			return nil, pgerr.New(pgerr.FeatureNotSupported, "Invalid field name %q. Field names are not allowed to start with the prefix of a pseudo-column", f.Name)
		}
	}
	return s, nil
}
