package bigquery

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	rest "google.golang.org/api/bigquery/v2"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// atATime is how many tables are asked after at a time.
const atATime = 8

// Introspect lists the tables and views of a dataset, which the name of another project may stand before: project.dataset.
func (e *Engine) Introspect(ctx context.Context, schema string) ([]engines.Table, error) {
	project, dataset := e.project, schema
	if at := strings.LastIndexByte(schema, '.'); at >= 0 {
		project, dataset = schema[:at], schema[at+1:]
	}
	if checkProject(project) != nil || checkDataset(dataset) != nil {
		return nil, pgerr.AtServer(e.server, pgerr.Hint(pgerr.New(pgerr.FdwSchemaNotFound, "%q is not the name of a dataset", schema), "Name it as dataset, or as \"project.dataset\"."))
	}
	names, err := e.tableNames(ctx, project, dataset)
	if err != nil {
		return nil, pgerr.AtServer(e.server, err)
	}
	tables := make([]*engines.Table, len(names))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(atATime)
	for i, name := range names {
		group.Go(func() (err error) {
			tables[i], err = e.table(within, project, dataset, name)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, pgerr.AtServer(e.server, pgerr.Interrupted(ctx, err))
	}
	var out []engines.Table
	for _, t := range tables {
		if t != nil {
			out = append(out, *t)
		}
	}
	return out, nil
}

// tableNames lists a dataset page by page, sorted.
func (e *Engine) tableNames(ctx context.Context, project, dataset string) ([]string, error) {
	var names []string
	for page := ""; ; {
		list, err := call(ctx, e.client, func(ctx context.Context) (*rest.TableList, error) {
			return e.client.rest.Tables.List(project, dataset).MaxResults(1000).PageToken(page).Context(ctx).Do()
		})
		if err != nil {
			if pe := pgerr.From(err); pe.Code == pgerr.FdwError || pe.Code == pgerr.UndefinedTable {
				pe.Code = pgerr.FdwSchemaNotFound
			}
			return nil, err
		}
		for _, t := range list.Tables {
			if t.TableReference != nil {
				names = append(names, t.TableReference.TableId)
			}
		}
		if page = list.NextPageToken; page == "" {
			slices.Sort(names)
			return names, nil
		}
	}
}

// table describes one; nil where it is gone meanwhile.
func (e *Engine) table(ctx context.Context, project, dataset, name string) (*engines.Table, error) {
	t, err := call(ctx, e.client, func(ctx context.Context) (*rest.Table, error) {
		return e.client.rest.Tables.Get(project, dataset, name).Context(ctx).Do()
	})
	if err != nil {
		if pgerr.From(err).Code == pgerr.UndefinedTable {
			return nil, nil
		}
		return nil, err
	}
	out := &engines.Table{Name: name, Comment: commentOf(t), Options: map[string]string{"schema_name": dataset, "table_name": name}}
	if project != e.project {
		out.Options["catalog_name"] = project
	}
	if t.Schema == nil {
		return out, nil
	}
	for _, f := range t.Schema.Fields {
		c := engines.Column{Name: f.Name, NotNull: strings.EqualFold(f.Mode, "REQUIRED"), Comment: f.Description}
		c.Type, c.RemoteType = importedType(f)
		c.Options = map[string]string{"column_name": f.Name, "remote_type": c.RemoteType}
		out.Columns = append(out.Columns, c)
	}
	out.Columns = append(out.Columns, ingestion(t.TimePartitioning)...)
	return out, nil
}

// ingestion are the columns that a table has which is parted by when rows came in. No schema lists them, and no * stands for them. Their
// names at home are such that they may be written as at the service, where case does not matter.
func ingestion(p *rest.TimePartitioning) []engines.Column {
	if p == nil || p.Field != "" {
		return nil
	}
	pseudo := func(name, remote, what string) engines.Column {
		return engines.Column{
			Name: strings.ToLower(name), Type: kinds[remote], RemoteType: remote, Partition: true,
			Comment: what + " that a row came in, in UTC; NULL for one that has just been streamed in",
			Options: map[string]string{"column_name": name, "remote_type": remote},
		}
	}
	columns := []engines.Column{pseudo("_PARTITIONTIME", "TIMESTAMP", "begin of the "+strings.ToLower(p.Type))}
	if strings.EqualFold(p.Type, "DAY") {
		columns = append(columns, pseudo("_PARTITIONDATE", "DATE", "day"))
	}
	return columns
}

// commentOf is a table's description, and by what it is parted and clustered: who asks for little of that is billed for little.
func commentOf(t *rest.Table) string {
	var notes []string
	if t.Description != "" {
		notes = append(notes, t.Description)
	}
	required := t.RequirePartitionFilter
	if p := t.TimePartitioning; p != nil {
		field := p.Field
		if field == "" {
			field = "_PARTITIONTIME"
		}
		notes = append(notes, "Partitioned by "+field+", "+p.Type+".")
		required = required || p.RequirePartitionFilter
	}
	if p := t.RangePartitioning; p != nil {
		notes = append(notes, "Partitioned by "+p.Field+", by range.")
	}
	if t.Clustering != nil && len(t.Clustering.Fields) > 0 {
		notes = append(notes, "Clustered by "+strings.Join(t.Clustering.Fields, ", ")+".")
	}
	if required {
		notes = append(notes, "A condition on the partition is required.")
	}
	return strings.Join(notes, " ")
}
