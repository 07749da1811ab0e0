// ent: migrations, edges, queries, aggregates, upserts, locks, transactions. Each test prints what it has seen as a line of JSON.
package main

import (
	"bytes"
	"context"
	stdsql "database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"clients/ent"
	"clients/ent/friendship"
	"clients/ent/group"
	"clients/ent/migrate"
	"clients/ent/pet"
	"clients/ent/schema"
	"clients/ent/user"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/dialect/sql"
	dialectschema "entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/dialect/sql/sqljson"
	"entgo.io/ent/schema/field"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib"
)

var ctx = context.Background()

// A world is what a test has: a schema of its own, with ent's tables.
type world struct {
	*ent.Client
	db *stdsql.DB
}

func open(schemaName string) world {
	dsn := fmt.Sprintf("host=%s port=%s user=%s dbname=%s sslmode=disable TimeZone=UTC search_path=%s", os.Getenv("PGHOST"), os.Getenv("PGPORT"),
		os.Getenv("PGUSER"), os.Getenv("PGDATABASE"), schemaName)
	db := must(stdsql.Open("pgx", dsn))
	return world{ent.NewClient(ent.Driver(sql.OpenDB(dialect.Postgres, db))), db}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

// What the server has told of an error.
func told(err error) any {
	if err == nil {
		return nil
	}
	kind := []bool{ent.IsConstraintError(err), ent.IsNotFound(err), ent.IsValidationError(err), ent.IsNotSingular(err)}
	var of *pgconn.PgError
	if errors.As(err, &of) {
		return []any{kind, of.Code, of.Message, of.Detail, of.TableName, of.ColumnName, of.ConstraintName}
	}
	return []any{kind, err.Error()}
}

func rows(db *stdsql.DB, text string, arguments ...any) []any {
	found := must(db.QueryContext(ctx, text, arguments...))
	defer found.Close()
	names := must(found.Columns())
	seen := []any{}
	for found.Next() {
		values := make([]any, len(names))
		for i := range values {
			values[i] = new(any)
		}
		check(found.Scan(values...))
		row := map[string]any{}
		for i, name := range names {
			row[name] = *values[i].(*any)
		}
		seen = append(seen, row)
	}
	check(found.Err())
	return seen
}

func catalog(w world) any {
	var seen [][]any
	for _, text := range []string{
		"SELECT table_name, column_name, data_type, udt_name, is_nullable, column_default, character_maximum_length, numeric_precision, numeric_scale, is_identity, identity_generation, identity_start FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY 1, ordinal_position",
		"SELECT conrelid::regclass::text AS of, conname, pg_get_constraintdef(oid) AS text FROM pg_constraint WHERE connamespace = current_schema()::regnamespace ORDER BY 1, 2",
		"SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1",
		"SELECT objoid::regclass::text AS of, objsubid, description FROM pg_description WHERE objoid IN (SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace) ORDER BY 1, 2"} {
		seen = append(seen, rows(w.db, text))
	}
	return seen
}

// What a migration would still do.
func planned(w world, options ...dialectschema.MigrateOption) string {
	var text bytes.Buffer
	check(w.Schema.WriteTo(ctx, &text, options...))
	return text.String()
}

func fill(w world) {
	check(w.Schema.Create(ctx))
	facts := schema.Facts{Born: 1994, Likes: []string{"tea", "it's"}}
	facts.Home.Town = "Rome"
	ann := w.User.Create().SetName("Ann").SetAge(30).SetRole(user.RoleAdmin).SetFacts(facts).SetTags([]string{"a", "b"}).SetRaw([]byte{0, 1, 255}).SetBig(1 << 60).SetUnsigned(1<<32 - 1).SetReal(0.25).SetNet("10.0.0.1/32").
		SetTitle("dr").SetDay(time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC)).SetNote("secret").SetKey(uuid.MustParse("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")).SetLabel("x").SaveX(ctx)
	ben := w.User.Create().SetName("Ben").SetAge(40).SetBoss(ann).SetTags([]string{}).SetNet("10.0.0.2/32").SetLabel("y").SaveX(ctx)
	cid := w.User.Create().SetName("Cid").SetBoss(ann).SetActive(false).SetNet("::1/128").SetLabel("z").SaveX(ctx)
	w.Pet.CreateBulk(w.Pet.Create().SetName("Rex").SetWeight(12).SetOwner(ann), w.Pet.Create().SetName("Tom").SetWeight(4).SetOwner(ann), w.Pet.Create().SetName("Ivy").SetOwner(ben), w.Pet.Create().SetName("Stray")).SaveX(ctx)
	w.Card.Create().SetID("1-2").SetOwner(ann).SetUntil(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)).SaveX(ctx)
	w.Group.Create().SetName("all").AddUsers(ann, ben, cid).SaveX(ctx)
	w.Group.Create().SetName("few").AddUsers(ben).SaveX(ctx)
	w.Friendship.Create().SetUser(ann).SetFriend(ben).SetWeight(7).SaveX(ctx)
	w.Friendship.Create().SetUser(ann).SetFriend(cid).SaveX(ctx)
}

type test struct {
	name string
	run  func(w world) any
}

// A migration of tables that are changed before: the tables of ent's own package are not.
func changed(w world, change func(tables map[string]*dialectschema.Table), options ...dialectschema.MigrateOption) any {
	tables := must(dialectschema.CopyTables(migrate.Tables))
	named := map[string]*dialectschema.Table{}
	for _, table := range tables {
		named[table.Name] = table
	}
	change(named)
	driver := sql.OpenDB(dialect.Postgres, w.db)
	migration := must(dialectschema.NewMigrate(driver, options...))
	if err := migration.Create(ctx, tables...); err != nil {
		return told(err)
	}
	return catalog(w)
}

func column(table *dialectschema.Table, name string) *dialectschema.Column {
	return table.Columns[slices.IndexFunc(table.Columns, func(c *dialectschema.Column) bool { return c.Name == name })]
}

func names(w world, query *ent.UserQuery) []string {
	return query.Order(ent.Asc(user.FieldID)).Select(user.FieldName).StringsX(ctx)
}

var tests = []test{
	{"migrate/tables", catalog},
	{"migrate/again", func(w world) any { check(w.Schema.Create(ctx)); return []any{planned(w), catalog(w)} }},
	{"migrate/planned at first", func(w world) any {
		must(w.db.Exec("DO $$ DECLARE t text; BEGIN FOR t IN SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = current_schema() LOOP EXECUTE 'DROP TABLE ' || t || ' CASCADE'; END LOOP; END $$"))
		return planned(w)
	}},
	{"migrate/without foreign keys", func(w world) any { return planned(w, dialectschema.WithForeignKeys(false)) }},
	{"migrate/column added", func(w world) any {
		return changed(w, func(t map[string]*dialectschema.Table) {
			t["pets"].Columns = append(t["pets"].Columns, &dialectschema.Column{Name: "colour", Type: field.TypeString, Default: "it's red"}, &dialectschema.Column{Name: "born", Type: field.TypeTime, Nullable: true})
		})
	}},
	{"migrate/column dropped", func(w world) any {
		return changed(w, func(t map[string]*dialectschema.Table) {
			t["pets"].Columns = slices.DeleteFunc(t["pets"].Columns, func(c *dialectschema.Column) bool { return c.Name == "weight" })
		}, dialectschema.WithDropColumn(true), dialectschema.WithDropIndex(true))
	}},
	{"migrate/types changed", func(w world) any {
		return changed(w, func(t map[string]*dialectschema.Table) {
			column(t["pets"], "weight").Type = field.TypeInt8
			column(t["pets"], "weight").Default = nil
			column(t["users"], "name").Size = 80
			column(t["users"], "label").Default = "other"
		})
	}},
	{"migrate/nulls refused", func(w world) any {
		return changed(w, func(t map[string]*dialectschema.Table) { column(t["users"], "day").Nullable = false })
	}},
	{"migrate/indexes changed", func(w world) any {
		return changed(w, func(t map[string]*dialectschema.Table) {
			t["users"].Indexes = nil
			t["pets"].Indexes = append(t["pets"].Indexes, &dialectschema.Index{Name: "by_weight", Columns: []*dialectschema.Column{column(t["pets"], "weight"), column(t["pets"], "name")},
				Annotation: &entsql.IndexAnnotation{DescColumns: map[string]bool{"weight": true}, Where: "weight > 3"}})
		}, dialectschema.WithDropIndex(true))
	}},
	{"migrate/checks changed", func(w world) any {
		return changed(w, func(t map[string]*dialectschema.Table) {
			t["users"].Annotation.Checks = map[string]string{"score_is_small": "score < 2000", "named": "length(name) BETWEEN 1 AND 39"}
		})
	}},
	{"migrate/foreign key changed", func(w world) any {
		return changed(w, func(t map[string]*dialectschema.Table) { t["pets"].ForeignKeys[0].OnDelete = dialectschema.SetNull })
	}},
	{"migrate/comment changed", func(w world) any {
		return changed(w, func(t map[string]*dialectschema.Table) { column(t["users"], "name").Comment = "it's their name" })
	}},
	{"migrate/hooks", func(w world) any {
		var seen []string
		check(w.Schema.Create(ctx, dialectschema.WithDiffHook(func(next dialectschema.Differ) dialectschema.Differ { seen = append(seen, "diff"); return next })))
		return seen
	}},
	{"query/all", func(w world) any { return w.User.Query().Order(user.ByID()).AllX(ctx) }},
	{"query/predicates", func(w world) any {
		seen := [][]string{}
		for _, by := range []func(*sql.Selector){user.NameIn("Ann", "Cid"), user.AgeIsNil(), user.AgeGT(30), user.NameContainsFold("B"), user.NameHasPrefix("C"), user.NameEqualFold("aNN"), user.RoleEQ(user.RoleGuest), user.Or(user.AgeLT(35), user.Not(user.Active(true))), user.HasPets(), user.HasPetsWith(pet.WeightGT(10)), user.HasBossWith(user.Name("Ann")), user.HasGroupsWith(group.Name("few")), user.Not(user.HasCard()), user.KeyEQ(uuid.MustParse("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")), user.RawEQ([]byte{0, 1, 255}), user.HasFriendshipsWith(friendship.WeightGT(5)), user.DayLT(time.Date(2024, 2, 1, 0, 0, 0, 0, time.UTC))} {
			seen = append(seen, names(w, w.User.Query().Where(by)))
		}
		return seen
	}},
	{"query/json", func(w world) any {
		seen := [][]string{}
		for _, by := range []*sql.Predicate{sqljson.ValueEQ("facts", "Rome", sqljson.Path("home", "town")), sqljson.ValueGT("facts", 1990, sqljson.Path("born")), sqljson.HasKey("facts", sqljson.Path("likes")), sqljson.LenEQ("facts", 2, sqljson.Path("likes")), sqljson.ValueContains("tags", "a"), sqljson.ValueContains("facts", "tea", sqljson.Path("likes")), sqljson.StringContains("facts", "om", sqljson.DotPath("home.town")), sqljson.ValueIsNull("facts", sqljson.Path("born")), sqljson.LenGT("tags", 0)} {
			seen = append(seen, names(w, w.User.Query().Where(func(s *sql.Selector) { s.Where(by) })))
		}
		return seen
	}},
	{"query/one", func(w world) any {
		_, none := w.User.Query().Where(user.Name("Z")).Only(ctx)
		_, many := w.User.Query().Only(ctx)
		return []any{w.User.Query().Where(user.Name("Ann")).OnlyX(ctx), w.User.Query().Order(user.ByAge(sql.OrderNullsFirst())).FirstX(ctx).Name, told(none), told(many), w.User.Query().Where(user.Age(30)).ExistX(ctx)}
	}},
	{"query/eager", func(w world) any {
		return w.User.Query().WithPets(func(q *ent.PetQuery) { q.Order(pet.ByName()).Select(pet.FieldName, pet.FieldOwnerID) }).WithCard().WithGroups(func(q *ent.GroupQuery) { q.Order(group.ByName()) }).WithBoss().WithTeam(func(q *ent.UserQuery) { q.Order(user.ByID()) }).Order(user.ByID()).AllX(ctx)
	}},
	{"query/eager with limits", func(w world) any {
		return w.User.Query().WithPets(func(q *ent.PetQuery) { q.Order(pet.ByWeight(sql.OrderDesc())).Limit(1).Select(pet.FieldName) }).Order(user.ByID()).AllX(ctx)
	}},
	{"query/through edges", func(w world) any {
		ann := w.User.Query().Where(user.Name("Ann")).OnlyX(ctx)
		return []any{ann.QueryPets().Order(pet.ByName()).Select(pet.FieldName).StringsX(ctx), ann.QueryTeam().QueryGroups().Order(group.ByName()).Select(group.FieldName).StringsX(ctx), ann.QueryFriends().CountX(ctx), names(w, w.Group.Query().Where(group.Name("all")).QueryUsers()), w.Card.Query().QueryOwner().OnlyX(ctx).Name}
	}},
	{"query/pages", func(w world) any { return names(w, w.User.Query().Limit(1).Offset(1)) }},
	{"query/order by edges", func(w world) any {
		return []any{w.User.Query().Order(user.ByPetsCount(sql.OrderDesc()), user.ByName()).Select(user.FieldName).StringsX(ctx), w.Pet.Query().Order(pet.ByOwnerField(user.FieldName, sql.OrderDesc(), sql.OrderNullsLast()), pet.ByName()).Select(pet.FieldName).StringsX(ctx), w.User.Query().Order(user.ByPets(sql.OrderBySum(pet.FieldWeight)), user.ByName()).Select(user.FieldName).StringsX(ctx)}
	}},
	{"query/aggregates", func(w world) any {
		var seen []struct {
			Sum, Min, Max, Count int
			Mean                 float64
		}
		w.Pet.Query().Aggregate(ent.As(ent.Sum(pet.FieldWeight), "sum"), ent.As(ent.Min(pet.FieldWeight), "min"), ent.As(ent.Max(pet.FieldWeight), "max"), ent.As(ent.Mean(pet.FieldWeight), "mean"), ent.Count()).ScanX(ctx, &seen)
		return []any{seen, w.User.Query().CountX(ctx), w.User.Query().Aggregate(ent.Max(user.FieldName)).StringX(ctx), w.Pet.Query().Unique(true).Select(pet.FieldOwnerID).Where(pet.OwnerIDNotNil()).CountX(ctx)}
	}},
	{"query/grouped", func(w world) any {
		var seen []struct {
			OwnerID    int `sql:"owner_id"`
			Count, Sum int
		}
		w.Pet.Query().Where(pet.HasOwner()).Order(pet.ByOwnerID()).GroupBy(pet.FieldOwnerID).Aggregate(ent.Count(), ent.Sum(pet.FieldWeight)).ScanX(ctx, &seen)
		return seen
	}},
	{"query/having", func(w world) any {
		var seen []struct {
			OwnerID int `sql:"owner_id"`
			N       int
		}
		w.Pet.Query().Modify(func(s *sql.Selector) {
			s.Select("owner_id", sql.As(sql.Count("*"), "n")).GroupBy("owner_id").Having(sql.GT(sql.Count("*"), 1))
		}).ScanX(ctx, &seen)
		return seen
	}},
	{"query/modified", func(w world) any {
		var seen []struct {
			Name, Pet string
			Place     int
		}
		w.User.Query().Modify(func(s *sql.Selector) {
			t := sql.Table(pet.Table)
			s.Join(t).On(s.C(user.FieldID), t.C(pet.FieldOwnerID)).Select(s.C("name"), sql.As(t.C("name"), "pet"), sql.As("row_number() OVER (ORDER BY "+t.C("weight")+" DESC)", "place")).OrderBy("place")
		}).ScanX(ctx, &seen)
		return seen
	}},
	{"query/window", func(w world) any {
		var seen []struct {
			Name string
			Rank int
		}
		w.Pet.Query().Modify(func(s *sql.Selector) {
			s.Select("name").AppendSelectExprAs(sql.Window(func(b *sql.Builder) { b.WriteString("RANK()") }).PartitionBy("owner_id").OrderBy("weight"), "rank").OrderBy("name")
		}).ScanX(ctx, &seen)
		return seen
	}},
	{"query/cte", func(w world) any {
		var seen []struct{ Name string }
		w.User.Query().Modify(func(s *sql.Selector) {
			heavy := sql.With("heavy").As(sql.Dialect(dialect.Postgres).Select("owner_id").From(sql.Table(pet.Table)).Where(sql.GT("weight", 3)))
			s.Prefix(heavy).Where(sql.In(s.C("id"), sql.Dialect(dialect.Postgres).Select("owner_id").From(sql.Table("heavy")))).Select("name")
		}).ScanX(ctx, &seen)
		return seen
	}},
	{"query/union", func(w world) any {
		builder := sql.Dialect(dialect.Postgres)
		text, arguments := builder.Select("name").From(sql.Table(user.Table)).Where(sql.GT("age", 35)).UnionAll(builder.Select("name").From(sql.Table(pet.Table)).Where(sql.Like("name", "T%"))).Query()
		return rows(w.db, text, arguments...)
	}},
	{"query/raw", func(w world) any {
		found := must(w.QueryContext(ctx, "SELECT $1::int + 1, $2::text", 1, "x"))
		defer found.Close()
		found.Next()
		var n int
		var s string
		check(found.Scan(&n, &s))
		return []any{n, s}
	}},
	{"write/create", func(w world) any {
		one := w.User.Create().SetName("Dan").SaveX(ctx)
		return []any{one, rows(w.db, "SELECT label, key IS NOT NULL AS has_key, active, small FROM users WHERE name = 'Dan'")}
	}},
	{"write/bulk", func(w world) any {
		var many []*ent.GroupCreate
		for i := range 300 {
			many = append(many, w.Group.Create().SetName(fmt.Sprint("g", i)))
		}
		made := w.Group.CreateBulk(many...).SaveX(ctx)
		return []any{len(made), made[0].ID, made[299].ID}
	}},
	{"write/update", func(w world) any {
		ann := w.User.Query().Where(user.Name("Ann")).OnlyX(ctx)
		ann = ann.Update().AddAge(2).ClearTitle().AppendTags([]string{"c"}).SetRole(user.RoleGuest).AddPets(w.Pet.Query().Where(pet.Name("Stray")).OnlyX(ctx)).RemoveFriendIDs(3).SaveX(ctx)
		return []any{ann, ann.QueryPets().CountX(ctx), ann.QueryFriends().CountX(ctx)}
	}},
	{"write/update many", func(w world) any {
		return []any{w.User.Update().Where(user.HasPets()).SetScore(9.25).ClearNote().SaveX(ctx), w.Pet.Update().Where(pet.HasOwnerWith(user.Name("Ann"))).Modify(func(u *sql.UpdateBuilder) { u.Set("weight", sql.Expr("weight * 2")) }).SaveX(ctx), w.Pet.Query().Order(pet.ByName()).Select(pet.FieldWeight).IntsX(ctx)}
	}},
	{"write/delete", func(w world) any {
		return []any{w.Pet.Delete().Where(pet.WeightGT(5)).ExecX(ctx), told(w.User.DeleteOneID(1).Exec(ctx)), w.Card.Delete().ExecX(ctx), w.Friendship.Delete().Where(friendship.UserID(1)).ExecX(ctx), told(w.User.DeleteOneID(1).Exec(ctx)), w.Pet.Query().CountX(ctx), rows(w.db, "SELECT name, user_team FROM users ORDER BY id")}
	}},
	{"upsert/new values", func(w world) any {
		id := w.User.Create().SetName("Ann").SetAge(99).OnConflictColumns(user.FieldName).UpdateNewValues().IDX(ctx)
		return []any{id, w.User.GetX(ctx, id).Age}
	}},
	{"upsert/ignored", func(w world) any {
		return told(w.Group.Create().SetName("all").OnConflictColumns(group.FieldName).Ignore().Exec(ctx))
	}},
	{"upsert/nothing", func(w world) any {
		return told(w.Group.Create().SetName("all").OnConflict().DoNothing().Exec(ctx))
	}},
	{"upsert/of some columns", func(w world) any {
		w.User.Create().SetName("Ben").SetAge(5).SetScore(2).OnConflict(sql.ConflictColumns(user.FieldName), sql.UpdateWhere(sql.ExprP("users.age > 10"))).Update(func(u *ent.UserUpsert) { u.AddAge(1).UpdateScore() }).ExecX(ctx)
		return w.User.Query().Where(user.Name("Ben")).OnlyX(ctx)
	}},
	{"upsert/constraint", func(w world) any {
		return told(w.Pet.Create().SetName("Rex").SetOwnerID(1).OnConflict(sql.ConflictColumns(pet.FieldName, pet.OwnerColumn)).SetWeight(77).Exec(ctx))
	}},
	{"upsert/bulk", func(w world) any {
		check(w.Group.CreateBulk(w.Group.Create().SetName("all"), w.Group.Create().SetName("new")).OnConflictColumns(group.FieldName).UpdateNewValues().Exec(ctx))
		return w.Group.Query().Order(group.ByName()).Select(group.FieldName).StringsX(ctx)
	}},
	{"error/unique", func(w world) any { return told(w.Group.Create().SetName("all").Exec(ctx)) }},
	{"error/check", func(w world) any { return told(w.User.Update().SetAge(-1).Exec(ctx)) }},
	{"error/foreign key", func(w world) any { return told(w.Pet.Create().SetName("x").SetOwnerID(99).Exec(ctx)) }},
	{"error/referenced", func(w world) any { return told(w.Group.DeleteOneID(100).Exec(ctx)) }},
	{"error/validation", func(w world) any {
		return []any{told(w.User.Create().SetName("").Exec(ctx)), told(w.User.Create().SetName("n").SetRole("king").Exec(ctx)), told(w.Card.Create().SetID("x").Exec(ctx))}
	}},
	{"error/too long", func(w world) any { return told(w.User.Update().SetTitle("0123456789").Exec(ctx)) }},
	{"transaction/commits", func(w world) any {
		tx := must(w.Tx(ctx))
		tx.Group.Create().SetName("t").SaveX(ctx)
		outside := w.Group.Query().CountX(ctx)
		check(tx.Commit())
		return []int{outside, w.Group.Query().CountX(ctx)}
	}},
	{"transaction/rolls back", func(w world) any {
		tx := must(w.Tx(ctx))
		tx.Group.Create().SetName("t").SaveX(ctx)
		check(tx.Rollback())
		return w.Group.Query().CountX(ctx)
	}},
	{"transaction/error within", func(w world) any {
		tx := must(w.Tx(ctx))
		defer tx.Rollback()
		return []any{told(tx.Group.Create().SetName("all").Exec(ctx)), told(tx.Group.Create().SetName("u").Exec(ctx))}
	}},
	{"transaction/isolation", func(w world) any {
		var seen []any
		for _, level := range []stdsql.IsolationLevel{stdsql.LevelReadCommitted, stdsql.LevelRepeatableRead, stdsql.LevelSerializable} {
			tx := must(w.BeginTx(ctx, &stdsql.TxOptions{Isolation: level, ReadOnly: level == stdsql.LevelSerializable}))
			found := must(tx.QueryContext(ctx, "SELECT current_setting('transaction_isolation') || ' ' || current_setting('transaction_read_only')"))
			var text string
			found.Next()
			check(found.Scan(&text))
			found.Close()
			seen = append(seen, text, told(tx.Group.Create().SetName(text).Exec(ctx)))
			check(tx.Rollback())
		}
		return seen
	}},
	{"transaction/serialization failure", func(w world) any {
		tx := must(w.BeginTx(ctx, &stdsql.TxOptions{Isolation: stdsql.LevelRepeatableRead}))
		defer tx.Rollback()
		tx.Group.Query().CountX(ctx)
		w.Group.UpdateOneID(100).SetName("changed").ExecX(ctx)
		return told(tx.Group.UpdateOneID(100).SetName("mine").Exec(ctx))
	}},
	{"lock/for update", func(w world) any {
		tx, other := must(w.Tx(ctx)), must(w.Tx(ctx))
		defer tx.Rollback()
		defer other.Rollback()
		tx.User.Query().Where(user.Name("Ann")).ForUpdate().OnlyX(ctx)
		free := names(w, other.User.Query().ForUpdate(sql.WithLockAction(sql.SkipLocked)))
		_, err := other.User.Query().Where(user.Name("Ann")).ForUpdate(sql.WithLockAction(sql.NoWait)).Only(ctx)
		return []any{free, told(err)}
	}},
	{"lock/for share", func(w world) any {
		tx, other := must(w.Tx(ctx)), must(w.Tx(ctx))
		defer tx.Rollback()
		defer other.Rollback()
		tx.User.Query().Where(user.Name("Ann")).ForShare().OnlyX(ctx)
		shared := other.User.Query().ForShare(sql.WithLockTables(user.Table), sql.WithLockAction(sql.NoWait)).Order(user.ByID()).AllX(ctx)
		_, err := other.ExecContext(ctx, "UPDATE users SET age = 1 WHERE id = (SELECT id FROM users WHERE name = 'Ann' FOR UPDATE NOWAIT)")
		return []any{len(shared), told(err)}
	}},
}

var made = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

func run(one test, name string) (line map[string]any) {
	line = map[string]any{"name": one.name}
	base := open("public")
	defer base.Close()
	defer func() {
		if failure := recover(); failure != nil {
			line["error"] = fmt.Sprint(failure)
		}
		must(base.db.Exec("DROP SCHEMA IF EXISTS " + name + " CASCADE"))
	}()
	must(base.db.Exec("DROP SCHEMA IF EXISTS " + name + " CASCADE"))
	must(base.db.Exec("CREATE SCHEMA " + name))
	w := open(name)
	defer w.Close()
	fill(w)
	line["value"] = one.run(w)
	return
}

func main() {
	for i, one := range tests {
		name := fmt.Sprint("ent_", i)
		text := must(json.Marshal(run(one, name)))
		fmt.Println(made.ReplaceAllString(strings.ReplaceAll(string(text), name+".", "own."), "an id"))
	}
}
