// GORM: models, migrations, associations, queries, hooks, transactions. Each test prints what it has seen as a line of JSON.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"
)

type Company struct {
	ID    uint
	Name  string `gorm:"size:100;uniqueIndex"`
	Users []User
}

type Profile struct {
	ID     uint
	UserID uint `gorm:"uniqueIndex"`
	Bio    string
}

type Language struct {
	Code string `gorm:"primaryKey;size:8"`
	Name string
}

type User struct {
	ID        uint `gorm:"primaryKey"`
	CreatedAt time.Time
	UpdatedAt time.Time
	DeletedAt gorm.DeletedAt `gorm:"index"`
	Name      string         `gorm:"not null;index:by_name_age,priority:1"`
	Age       int            `gorm:"check:age_is_positive,age > 0;index:by_name_age,priority:2;default:18"`
	Email     *string        `gorm:"unique"`
	Score     float64        `gorm:"type:numeric(10,2)"`
	Active    bool
	Birthday  *time.Time `gorm:"type:date"`
	Data      []byte
	Facts     map[string]any `gorm:"serializer:json;type:jsonb"`
	CompanyID *uint
	Company   *Company   `gorm:"constraint:OnDelete:SET NULL"`
	Profile   *Profile   `gorm:"constraint:OnDelete:CASCADE"`
	Languages []Language `gorm:"many2many:user_languages"`
	ManagerID *uint
	Team      []User `gorm:"foreignKey:ManagerID"`
}

var moment = time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)

func open(schemaName string) *gorm.DB {
	dsn := fmt.Sprintf("host=%s port=%s user=%s dbname=%s sslmode=disable TimeZone=UTC search_path=%s", os.Getenv("PGHOST"), os.Getenv("PGPORT"),
		os.Getenv("PGUSER"), os.Getenv("PGDATABASE"), schemaName)
	db, err := gorm.Open(postgres.Open(dsn), &gorm.Config{Logger: logger.Discard, NowFunc: func() time.Time { return moment }, TranslateError: false,
		NamingStrategy: schema.NamingStrategy{}})
	if err != nil {
		panic(err)
	}
	return db
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// What the server has told of an error.
func told(err error) any {
	var of *pgconn.PgError
	if errors.As(err, &of) {
		return []string{of.Code, of.Message, of.Detail, of.TableName, of.ColumnName, of.ConstraintName}
	}
	if err == nil {
		return nil
	}
	return err.Error()
}

func fill(db *gorm.DB) {
	check(db.AutoMigrate(&Company{}, &Language{}, &User{}, &Profile{}))
	mail := "ann@x"
	company := Company{Name: "Acme"}
	check(db.Create(&company).Error)
	ann := User{Name: "Ann", Age: 30, Email: &mail, Score: 1.25, Active: true, Birthday: &moment, Data: []byte{0, 1, 255}, Facts: map[string]any{"k": 1.0, "l": []any{"a"}},
		CompanyID: &company.ID, Profile: &Profile{Bio: "first"}, Languages: []Language{{"en", "English"}, {"de", "German"}}}
	check(db.Create(&ann).Error)
	check(db.Create([]User{{Name: "Ben", Age: 40, ManagerID: &ann.ID}, {Name: "Cid", ManagerID: &ann.ID, CompanyID: &company.ID}}).Error)
}

type test struct {
	name string
	run  func(db *gorm.DB) any
}

func users(db *gorm.DB) any {
	var all []User
	check(db.Order("id").Find(&all).Error)
	return all
}

func catalog(db *gorm.DB) any {
	var seen []map[string]any
	for _, text := range []string{
		"SELECT table_name, column_name, data_type, udt_name, is_nullable, column_default, character_maximum_length FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY 1, ordinal_position",
		"SELECT conname, pg_get_constraintdef(oid) AS text FROM pg_constraint WHERE connamespace = current_schema()::regnamespace ORDER BY conname",
		"SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY indexname"} {
		var rows []map[string]any
		check(db.Raw(text).Scan(&rows).Error)
		seen = append(seen, rows...)
	}
	return seen
}

var tests = []test{
	{"migrate/tables", catalog},
	{"migrate/again", func(db *gorm.DB) any {
		check(db.AutoMigrate(&Company{}, &Language{}, &User{}, &Profile{}))
		return catalog(db)
	}},
	{"migrate/changed model", func(db *gorm.DB) any {
		type Company struct {
			ID    uint64
			Name  string `gorm:"size:250;not null;default:none"`
			Since time.Time
			Kind  string `gorm:"index;comment:what it is"`
		}
		check(db.AutoMigrate(&Company{}))
		return catalog(db)
	}},
	{"migrate/column types", func(db *gorm.DB) any {
		types, err := db.Migrator().ColumnTypes(&User{})
		check(err)
		var seen []any
		for _, one := range types {
			length, hasLength := one.Length()
			precision, scale, hasPrecision := one.DecimalSize()
			nullable, _ := one.Nullable()
			value, hasDefault := one.DefaultValue()
			primary, _ := one.PrimaryKey()
			unique, _ := one.Unique()
			full, _ := one.ColumnType()
			seen = append(seen, []any{one.Name(), one.DatabaseTypeName(), full, length, hasLength, precision, scale, hasPrecision, nullable, value, hasDefault, primary, unique})
		}
		sort.Slice(seen, func(a, b int) bool { return seen[a].([]any)[0].(string) < seen[b].([]any)[0].(string) })
		return seen
	}},
	{"migrate/has", func(db *gorm.DB) any {
		m := db.Migrator()
		return []bool{m.HasTable(&User{}), m.HasTable("nothing"), m.HasColumn(&User{}, "Name"), m.HasColumn(&User{}, "nothing"), m.HasIndex(&User{}, "by_name_age"), m.HasConstraint(&User{}, "age_is_positive"), m.HasConstraint(&User{}, "Company")}
	}},
	{"migrate/indexes", func(db *gorm.DB) any {
		all, err := db.Migrator().GetIndexes(&User{})
		check(err)
		seen := map[string]any{}
		for _, one := range all {
			unique, _ := one.Unique()
			primary, _ := one.PrimaryKey()
			seen[one.Name()] = []any{one.Columns(), unique, primary}
		}
		return seen
	}},
	{"migrate/columns", func(db *gorm.DB) any {
		m := db.Migrator()
		check(m.RenameColumn(&User{}, "name", "title"))
		check(m.DropColumn(&User{}, "score"))
		check(m.DropConstraint(&User{}, "age_is_positive"))
		check(m.DropIndex(&User{}, "by_name_age"))
		check(m.RenameTable("languages", "tongues"))
		return catalog(db)
	}},
	{"migrate/tables of the schema", func(db *gorm.DB) any { all, err := db.Migrator().GetTables(); check(err); return len(all) }},
	{"migrate/view", func(db *gorm.DB) any {
		check(db.Migrator().CreateView("named", gorm.ViewOption{Query: db.Model(&User{}).Select("name"), Replace: true}))
		var n int64
		check(db.Table("named").Count(&n).Error)
		return n
	}},
	{"query/all", users},
	{"query/first", func(db *gorm.DB) any { var one User; return []any{told(db.First(&one).Error), one} }},
	{"query/none", func(db *gorm.DB) any { var one User; return told(db.First(&one, 99).Error) }},
	{"query/where", func(db *gorm.DB) any {
		var all []User
		check(db.Where("age > ? AND name LIKE ?", 20, "%n").Order("id").Find(&all).Error)
		return all
	}},
	{"query/struct and map", func(db *gorm.DB) any {
		var a, b []User
		check(db.Where(&User{Name: "Ann"}).Find(&a).Error)
		check(db.Where(map[string]any{"age": []int{30, 40}}).Order("id").Find(&b).Error)
		return []any{a, b}
	}},
	{"query/not and or", func(db *gorm.DB) any {
		var all []string
		check(db.Model(&User{}).Not("name = ?", "Ann").Or("age = ?", 30).Order("id").Pluck("name", &all).Error)
		return all
	}},
	{"query/named", func(db *gorm.DB) any {
		var all []string
		check(db.Model(&User{}).Where("age BETWEEN @a AND @b", sql.Named("a", 10), sql.Named("b", 35)).Order("id").Pluck("name", &all).Error)
		return all
	}},
	{"query/group", func(db *gorm.DB) any {
		var rows []map[string]any
		check(db.Model(&User{}).Select("company_id, count(*) AS n, sum(age) AS total").Group("company_id").Having("count(*) > ?", 0).Order("company_id").Scan(&rows).Error)
		return rows
	}},
	{"query/joins", func(db *gorm.DB) any {
		var all []User
		check(db.Joins("Company").Joins("Profile").Order("users.id").Find(&all).Error)
		return all
	}},
	{"query/preload", func(db *gorm.DB) any {
		var all []User
		check(db.Preload("Languages", func(tx *gorm.DB) *gorm.DB { return tx.Order("code") }).Preload("Team", func(tx *gorm.DB) *gorm.DB { return tx.Order("id") }).Preload(clause.Associations).Order("id").Find(&all).Error)
		return all
	}},
	{"query/subquery", func(db *gorm.DB) any {
		var all []string
		check(db.Model(&User{}).Where("age > (?)", db.Model(&User{}).Select("avg(age)")).Pluck("name", &all).Error)
		return all
	}},
	{"query/json", func(db *gorm.DB) any {
		var all []string
		check(db.Model(&User{}).Where("facts ->> 'k' = ?", "1").Pluck("name", &all).Error)
		return all
	}},
	{"query/distinct, limit, offset", func(db *gorm.DB) any {
		var all []int
		check(db.Model(&User{}).Distinct("age").Order("age DESC").Limit(2).Offset(1).Find(&all).Error)
		return all
	}},
	{"query/locking", func(db *gorm.DB) any {
		var all []User
		check(db.Clauses(clause.Locking{Strength: "UPDATE", Options: "SKIP LOCKED"}).Order("id").Find(&all).Error)
		return len(all)
	}},
	{"query/rows", func(db *gorm.DB) any {
		rows, err := db.Model(&User{}).Order("id").Select("id", "name").Rows()
		check(err)
		defer rows.Close()
		var seen []any
		for rows.Next() {
			var one struct {
				ID   uint
				Name string
			}
			check(db.ScanRows(rows, &one))
			seen = append(seen, one)
		}
		return seen
	}},
	{"query/in batches", func(db *gorm.DB) any {
		var seen []int
		var part []User
		check(db.FindInBatches(&part, 2, func(tx *gorm.DB, n int) error { seen = append(seen, len(part)); return nil }).Error)
		return seen
	}},
	{"query/raw", func(db *gorm.DB) any {
		var row map[string]any
		check(db.Raw("SELECT ?::int AS a, ?::text AS b, ARRAY[1, 2]::text AS c", 1, "x").Scan(&row).Error)
		return row
	}},
	{"query/scopes and count", func(db *gorm.DB) any {
		var n int64
		check(db.Model(&User{}).Scopes(func(tx *gorm.DB) *gorm.DB { return tx.Where("active") }).Count(&n).Error)
		return n
	}},
	{"write/create", func(db *gorm.DB) any {
		one := User{Name: "Dan", Facts: map[string]any{}}
		check(db.Create(&one).Error)
		return one
	}},
	{"write/from map", func(db *gorm.DB) any {
		check(db.Model(&User{}).Create(map[string]any{"name": "Map", "age": clause.Expr{SQL: "1 + ?", Vars: []any{2}}}).Error)
		return users(db)
	}},
	{"write/in batches", func(db *gorm.DB) any {
		many := make([]Company, 25)
		for i := range many {
			many[i].Name = fmt.Sprint("c", i)
		}
		check(db.CreateInBatches(many, 10).Error)
		return many[24].ID
	}},
	{"write/on conflict nothing", func(db *gorm.DB) any {
		r := db.Clauses(clause.OnConflict{DoNothing: true}).Create(&Company{Name: "Acme"})
		return []any{told(r.Error), r.RowsAffected}
	}},
	{"write/on conflict update", func(db *gorm.DB) any {
		check(db.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "code"}}, DoUpdates: clause.AssignmentColumns([]string{"name"})}).Create(&Language{"en", "Englisch"}).Error)
		var all []Language
		check(db.Order("code").Find(&all).Error)
		return all
	}},
	{"write/on conflict all", func(db *gorm.DB) any {
		one := Company{ID: 1, Name: "New"}
		check(db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&one).Error)
		var all []Company
		check(db.Find(&all).Error)
		return all
	}},
	{"write/save and updates", func(db *gorm.DB) any {
		var one User
		check(db.First(&one).Error)
		one.Age = 31
		check(db.Save(&one).Error)
		check(db.Model(&one).Updates(map[string]any{"active": false, "age": gorm.Expr("age * ?", 2)}).Error)
		return users(db)
	}},
	{"write/update returning", func(db *gorm.DB) any {
		var all []User
		check(db.Model(&all).Clauses(clause.Returning{Columns: []clause.Column{{Name: "id"}, {Name: "age"}}}).Where("name = ?", "Ben").Update("age", 41).Error)
		return all
	}},
	{"write/delete softly", func(db *gorm.DB) any {
		check(db.Delete(&User{}, 2).Error)
		var n, all int64
		check(db.Model(&User{}).Count(&n).Error)
		check(db.Unscoped().Model(&User{}).Count(&all).Error)
		return []int64{n, all}
	}},
	{"write/delete", func(db *gorm.DB) any {
		return []any{told(db.Unscoped().Where("name = ?", "Ben").Delete(&User{}).Error), users(db)}
	}},
	{"write/without where", func(db *gorm.DB) any { return told(db.Delete(&User{}).Error) }},
	{"write/first or create", func(db *gorm.DB) any {
		var a, b Company
		check(db.FirstOrCreate(&a, Company{Name: "X"}).Error)
		check(db.Where(Company{Name: "X"}).Attrs(Company{Name: "Y"}).FirstOrCreate(&b).Error)
		return []Company{a, b}
	}},
	{"association/append, replace, clear", func(db *gorm.DB) any {
		var ann User
		check(db.First(&ann).Error)
		languages := func() *gorm.Association { return db.Model(&ann).Association("Languages") }
		var seen []int64
		check(languages().Append(&Language{"fr", "French"}))
		seen = append(seen, languages().Count())
		check(languages().Delete(&Language{Code: "en"}))
		seen = append(seen, languages().Count())
		check(languages().Replace([]Language{{"it", "Italian"}}))
		seen = append(seen, languages().Count())
		check(languages().Clear())
		return append(seen, languages().Count())
	}},
	{"error/unique", func(db *gorm.DB) any { return told(db.Create(&Company{Name: "Acme"}).Error) }},
	{"error/check", func(db *gorm.DB) any { return told(db.Create(&User{Name: "x", Age: -1}).Error) }},
	{"error/foreign key", func(db *gorm.DB) any {
		none := uint(99)
		return told(db.Create(&User{Name: "x", CompanyID: &none}).Error)
	}},
	{"error/unknown column", func(db *gorm.DB) any { return told(db.Where("nothing = 1").Find(&[]User{}).Error) }},
	{"error/translated", func(db *gorm.DB) any {
		err := db.Session(&gorm.Session{}).Create(&Company{Name: "Acme"}).Error
		return errors.Is(postgres.Dialector{}.Translate(err), gorm.ErrDuplicatedKey)
	}},
	{"transaction/commits", func(db *gorm.DB) any {
		check(db.Transaction(func(tx *gorm.DB) error { return tx.Create(&Company{Name: "T"}).Error }))
		var n int64
		check(db.Model(&Company{}).Count(&n).Error)
		return n
	}},
	{"transaction/rolls back", func(db *gorm.DB) any {
		err := db.Transaction(func(tx *gorm.DB) error { check(tx.Create(&Company{Name: "T"}).Error); return errors.New("back") })
		var n int64
		check(db.Model(&Company{}).Count(&n).Error)
		return []any{err.Error(), n}
	}},
	{"transaction/nested", func(db *gorm.DB) any {
		check(db.Transaction(func(tx *gorm.DB) error {
			check(tx.Create(&Company{Name: "out"}).Error)
			_ = tx.Transaction(func(in *gorm.DB) error { check(in.Create(&Company{Name: "in"}).Error); return errors.New("back") })
			return nil
		}))
		var all []string
		check(db.Model(&Company{}).Order("id").Pluck("name", &all).Error)
		return all
	}},
	{"transaction/savepoints", func(db *gorm.DB) any {
		tx := db.Begin(&sql.TxOptions{Isolation: sql.LevelRepeatableRead})
		check(tx.SavePoint("a").Error)
		check(tx.Create(&Company{Name: "a"}).Error)
		check(tx.RollbackTo("a").Error)
		check(tx.Create(&Company{Name: "b"}).Error)
		check(tx.Commit().Error)
		var all []string
		check(db.Model(&Company{}).Order("id").Pluck("name", &all).Error)
		return all
	}},
	{"transaction/prepared statements", func(db *gorm.DB) any {
		own := db.Session(&gorm.Session{PrepareStmt: true})
		var seen []any
		for i := 1; i < 4; i++ {
			var one User
			seen = append(seen, told(own.First(&one, i).Error), one.Name)
		}
		return seen
	}},
	{"transaction/cancelled", func(db *gorm.DB) any {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		err := db.WithContext(ctx).Exec("SELECT pg_sleep(20)").Error
		var n int64
		check(db.Model(&User{}).Count(&n).Error)
		return []any{err != nil, n}
	}},
}

func run(one test, name string) (line map[string]any) {
	line = map[string]any{"name": one.name}
	defer func() {
		if failure := recover(); failure != nil {
			line["error"] = fmt.Sprint(failure)
		}
	}()
	base := open("public")
	check(base.Exec("DROP SCHEMA IF EXISTS " + name + " CASCADE").Error)
	check(base.Exec("CREATE SCHEMA " + name).Error)
	db := open(name)
	fill(db)
	line["value"] = one.run(db)
	for _, each := range []*gorm.DB{db, base} {
		if each == base {
			check(base.Exec("DROP SCHEMA " + name + " CASCADE").Error)
		}
		pool, _ := each.DB()
		pool.Close()
	}
	return
}

func main() {
	for i, one := range tests {
		text, err := json.Marshal(run(one, fmt.Sprint("gorm_", i)))
		check(err)
		fmt.Println(strings.ReplaceAll(string(text), "\u2028", ""))
	}
}
