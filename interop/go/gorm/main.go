// Command gorm runs the checks with GORM on pgx: models of tables that exist.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"

	"github.com/sluicedb/sluice/interop/go/check"
)

// Item is a row of item.
type Item struct {
	ID    int32 `gorm:"primaryKey"`
	Name  string
	Price *string
	Qty   *int16
	Big   *int64
	Ratio *float64
	R4    *float32
	Ok    *bool
	Day   *time.Time
	At    *time.Time
	Atz   *time.Time
	UID   *string
	Doc   *string
	Raw   []byte
	T     *string
	Note  *string
}

// TableName is that in the search_path.
func (Item) TableName() string { return "item" }

// Series is a row of series.
type Series struct {
	N     int64 `gorm:"primaryKey"`
	Label string
}

// TableName is that in the search_path.
func (Series) TableName() string { return "series" }

// Sink is a row of sink.
type Sink struct {
	ID    int32 `gorm:"primaryKey;autoIncrement:false"`
	Name  *string
	Price *string
	Qty   *int16
	At    *time.Time
	Raw   []byte
}

// TableName is that in the search_path.
func (Sink) TableName() string { return "sink" }

func main() {
	check.Main(describe, map[string]check.Func{
		"connect":    connect,
		"introspect": with(introspect),
		"types":      types,
		"prepared":   with(prepared),
		"cursor":     with(cursor),
		"pipeline":   with(batches),
		"copy":       check.Missing("GORM has none"),
		"cancel":     with(cancels),
		"rollback":   with(rollback),
		"errors":     with(failures),
	})
}

func describe(err error) string {
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok {
		return fmt.Sprintf("%T %s %s %s", pe, pe.Severity, pe.Code, check.Anonymous(pe.Message))
	}
	return fmt.Sprintf("%T - %v", err, err)
}

func open(simple bool, password string) (*gorm.DB, error) {
	address, err := url.Parse(check.URL)
	if err != nil {
		return nil, err
	}
	if password != "" {
		address.User = url.UserPassword(address.User.Username(), password)
	}
	address.RawQuery = "search_path=" + check.Schema
	return gorm.Open(postgres.New(postgres.Config{DSN: address.String(), PreferSimpleProtocol: simple}), &gorm.Config{
		Logger:         logger.Discard,
		NamingStrategy: schema.NamingStrategy{SingularTable: true},
		PrepareStmt:    !simple,
	})
}

// withMode gives a check a pool, in the extended protocol or the simple one.
func withMode(simple bool, use func(*gorm.DB, check.Say) error) check.Func {
	return func(ctx context.Context, say check.Say) (err error) {
		db, err := open(simple, "")
		if err != nil {
			return err
		}
		pool, err := db.DB()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, pool.Close()) }()
		return use(db.WithContext(ctx), say)
	}
}

func with(use func(*gorm.DB, check.Say) error) check.Func { return withMode(false, use) }

func connect(ctx context.Context, say check.Say) error {
	err := with(func(db *gorm.DB, say check.Say) error {
		var who, version string
		err := db.Raw("SELECT current_user, current_setting('server_version')").Row().Scan(&who, &version)
		say("%s %s %s", db.Name(), who, version)
		return err
	})(ctx, say)
	if err != nil {
		return err
	}
	_, err = open(false, "wrong")
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok {
		say("wrong password: %s", describe(pe))
	}
	return nil
}

func introspect(db *gorm.DB, say check.Say) error {
	m := db.Migrator()
	for _, model := range []any{&Item{}, &Series{}, &Sink{}} {
		say("%T table %v, column id %v, missing %v", model, m.HasTable(model), m.HasColumn(model, "id"), m.HasColumn(model, "missing"))
		kinds, err := m.ColumnTypes(model)
		if err != nil {
			return err
		}
		for _, k := range kinds {
			column, _ := k.ColumnType()
			nullable, _ := k.Nullable()
			length, _ := k.Length()
			precision, scale, _ := k.DecimalSize()
			standard, hasDefault := k.DefaultValue()
			say("%s %s %s %v %v %d %d %d %q %v", k.Name(), k.DatabaseTypeName(), column, k.ScanType(), nullable, length, precision, scale, standard, hasDefault)
		}
	}
	return nil
}

func text[T any](v *T) string {
	if v == nil {
		return "-"
	}
	if t, ok := any(*v).(time.Time); ok {
		return t.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprintf("%v", *v)
}

func (i Item) String() string {
	return fmt.Sprintf("%d %q %s %s %s %s %s %s %s %s %s %s %s %x %s %s", i.ID, i.Name, text(i.Price), text(i.Qty), text(i.Big), text(i.Ratio), text(i.R4),
		text(i.Ok), text(i.Day), text(i.At), text(i.Atz), text(i.UID), text(i.Doc), i.Raw, text(i.T), text(i.Note))
}

func (s Sink) String() string {
	return fmt.Sprintf("%d %s %s %s %s %x", s.ID, text(s.Name), text(s.Price), text(s.Qty), text(s.At), s.Raw)
}

func types(ctx context.Context, say check.Say) error {
	for _, simple := range []bool{false, true} {
		if err := withMode(simple, typesIn)(ctx, say); err != nil {
			return err
		}
	}
	return nil
}

func typesIn(db *gorm.DB, say check.Say) error {
	var items []Item
	if err := db.Order("id").Find(&items).Error; err != nil {
		return err
	}
	for _, i := range items {
		say("%v", i)
	}
	for _, i := range items[:3] {
		var found []int32
		err := db.Model(&Item{}).Where(&i).Order("id").Pluck("id", &found).Error
		say("by all %d: %v %v", i.ID, found, err)
	}
	name, price, qty, at := "é \"q\" \\ \n", "12.50", int16(-3), time.Date(2024, 2, 29, 12, 30, 15, 123456000, time.UTC)
	one := Sink{7, &name, &price, &qty, &at, []byte{0, 1, 255}}
	if err := db.Create(&one).Error; err != nil {
		return err
	}
	if err := db.Create(&[]Sink{{ID: 8}, {ID: 9, Name: &name}}).Error; err != nil {
		return err
	}
	r := db.Model(&Sink{}).Where("id > ?", 7).Updates(map[string]any{"qty": gorm.Expr("id + ?", 1), "name": "later"})
	say("updated %d %v", r.RowsAffected, r.Error)
	one.Qty = nil
	say("saved %v", db.Save(&one).Error)
	var back []Sink
	say("deleted %v", db.Clauses(clause.Returning{}).Where("id >= ?", 7).Delete(&back).Error)
	say("%d gone", len(back))
	var n int64
	say("counted %v %d", db.Model(&Item{}).Where("note LIKE ?", "note 1%").Or("id IN ?", []int{1, 2}).Count(&n).Error, n)
	var groups []struct {
		Ok    *bool
		Total int64
		Most  *string
	}
	err := db.Model(&Item{}).Select("ok, sum(s.n)::bigint AS total, max(price) AS most").Joins("JOIN series s ON s.n = item.id").
		Where("item.id IN (?)", db.Model(&Series{}).Select("n").Where("n < ?", 100)).Group("ok").Having("count(*) > ?", 2).Order("ok").Scan(&groups).Error
	for _, g := range groups {
		say("group %s %d %s", text(g.Ok), g.Total, text(g.Most))
	}
	if err != nil {
		return err
	}
	var first Item
	say("first %v %v", db.Where(map[string]any{"qty": -90}).First(&first).Error, first)
	say("none %v", db.First(&Item{}, 500).Error)
	return nil
}

func prepared(db *gorm.DB, say check.Say) error {
	for _, id := range []any{1, 7, "11", "x", 2} {
		var i Item
		err := db.Select("id", "name", "price").Take(&i, "id = ?", id).Error
		if err != nil {
			say("%s", describe(err))
			continue
		}
		say("%d %q %s", i.ID, i.Name, text(i.Price))
	}
	return nil
}

func cursor(db *gorm.DB, say check.Say) error {
	rows, err := db.Model(&Series{}).Order("n").Rows()
	if err != nil {
		return err
	}
	n := 0
	for rows.Next() {
		var s Series
		if err := db.ScanRows(rows, &s); err != nil {
			return err
		}
		n++
	}
	say("rows %d %v %v", n, rows.Err(), rows.Close())
	var some []Series
	sizes := map[int]int{}
	err = db.Where("n <= ?", 5000).FindInBatches(&some, 999, func(_ *gorm.DB, _ int) error { sizes[len(some)]++; return nil }).Error
	say("in batches %v %v", sizes, err)
	return nil
}

func batches(db *gorm.DB, say check.Say) error {
	many := make([]Sink, 2000)
	for i := range many {
		many[i].ID = int32(i)
	}
	r := db.CreateInBatches(many, 500)
	say("created %d %v", r.RowsAffected, r.Error)
	r = db.Where("id >= 0").Delete(&Sink{})
	say("deleted %d %v", r.RowsAffected, r.Error)
	return nil
}

func cancels(db *gorm.DB, say check.Say) error {
	for _, text := range []string{"SELECT pg_sleep(60)", check.Endless()} {
		short, stop := context.WithTimeout(db.Statement.Context, time.Second)
		err := db.WithContext(short).Exec(text).Error
		stop()
		say("cancelled %v", errors.Is(err, context.DeadlineExceeded))
		var n int64
		say("goes on %v %d", db.Model(&Item{}).Count(&n).Error, n)
	}
	return nil
}

func rollback(db *gorm.DB, say check.Say) error {
	for _, end := range []error{check.ErrLeft, nil} {
		err := db.Transaction(func(tx *gorm.DB) error {
			if err := tx.Create(&[]Sink{{ID: 1}, {ID: 2}}).Error; err != nil {
				return err
			}
			var n int64
			say("within %v %d", tx.Model(&Sink{}).Count(&n).Error, n)
			return end
		})
		var n int64
		say("ended with %v: %v %d", err, db.Model(&Sink{}).Count(&n).Error, n)
	}
	err := db.Transaction(func(tx *gorm.DB) error {
		inner := tx.Transaction(func(tx *gorm.DB) error { return tx.Exec("SELECT 1 / (id - 1) FROM item").Error })
		say("savepoint %s", describe(inner))
		return tx.Where("id > 0").Delete(&Sink{}).Error
	})
	say("ended with %v", err)
	return nil
}

func failures(db *gorm.DB, say check.Say) error {
	for _, text := range check.Errors() {
		say("%s", describe(db.Exec(text).Error))
	}
	qty := int16(1)
	say("%s", describe(db.Where("uid = ?", "x").Find(&[]Item{}).Error))
	say("%v", db.Create(&Sink{ID: 1, Qty: &qty}).Error)
	return db.Exec("DELETE FROM sink").Error
}
