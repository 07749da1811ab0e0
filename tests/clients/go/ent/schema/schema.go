// Package schema has the entities that main.go uses; ent makes its code of them.
package schema

import (
	"time"

	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

type Facts struct {
	Born  int      `json:"born,omitempty"`
	Likes []string `json:"likes,omitempty"`
	Home  struct {
		Town string `json:"town,omitempty"`
	} `json:"home"`
}

type User struct{ ent.Schema }

func (User) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxLen(40).NotEmpty().Unique().Comment("what they are called"),
		field.Int("age").Optional().Nillable().Annotations(entsql.Check("age > 0")),
		field.Enum("role").Values("admin", "guest").Default("guest"),
		field.JSON("facts", Facts{}).Optional(),
		field.Strings("tags").Optional(),
		field.Float("score").Default(1.5).SchemaType(map[string]string{dialect.Postgres: "numeric(8,2)"}),
		field.Bool("active").Default(true).Annotations(entsql.Default("true")),
		field.Bytes("raw").Optional(),
		field.Time("at").Default(func() time.Time { return time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC) }).Immutable(),
		field.UUID("key", uuid.UUID{}).Optional().Annotations(entsql.DefaultExpr("gen_random_uuid()")),
		field.String("label").Optional().Annotations(entsql.DefaultExpr("lower('NONE')")),
		field.Text("note").Optional().Sensitive(),
		field.Int64("big").Optional(),
		field.Int8("small").Default(3),
		field.Uint32("unsigned").Optional(),
		field.Float32("real").Optional(),
		field.String("net").Optional().SchemaType(map[string]string{dialect.Postgres: "inet"}),
		field.String("title").Optional().SchemaType(map[string]string{dialect.Postgres: "varchar(9)"}),
		field.Time("day").Optional().Nillable().SchemaType(map[string]string{dialect.Postgres: "date"}),
	}
}

func (User) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("pets", Pet.Type).Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("card", Card.Type).Unique(),
		edge.To("friends", User.Type).Through("friendships", Friendship.Type),
		edge.To("team", User.Type).From("boss").Unique(),
		edge.From("groups", Group.Type).Ref("users"),
	}
}

func (User) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("age", "name").Annotations(entsql.DescColumns("age"), entsql.IndexWhere("active")),
		index.Fields("tags").Annotations(entsql.IndexTypes(map[string]string{dialect.Postgres: "GIN"})),
		index.Fields("title").Annotations(entsql.OpClass("varchar_pattern_ops")),
		index.Fields("big").Unique().StorageKey("big_once").Annotations(entsql.IncludeColumns("small")),
	}
}

func (User) Annotations() []schema.Annotation {
	return []schema.Annotation{entsql.WithComments(true), schema.Comment("those who use it"), entsql.Checks(map[string]string{"score_is_small": "score < 1000"})}
}

type Pet struct{ ent.Schema }

func (Pet) Fields() []ent.Field {
	return []ent.Field{field.UUID("id", uuid.UUID{}).Default(uuid.New), field.String("name"), field.Int("weight").Default(1), field.Int("owner_id").Optional()}
}

func (Pet) Edges() []ent.Edge {
	return []ent.Edge{edge.From("owner", User.Type).Ref("pets").Unique().Field("owner_id")}
}

func (Pet) Indexes() []ent.Index {
	return []ent.Index{index.Fields("name").Edges("owner").Unique()}
}

type Card struct{ ent.Schema }

func (Card) Fields() []ent.Field {
	return []ent.Field{field.String("id").MaxLen(20), field.Time("until").Optional()}
}

func (Card) Edges() []ent.Edge {
	return []ent.Edge{edge.From("owner", User.Type).Ref("card").Unique().Required().Annotations(entsql.OnDelete(entsql.Restrict))}
}

type Group struct{ ent.Schema }

func (Group) Fields() []ent.Field {
	return []ent.Field{field.String("name").Unique()}
}

func (Group) Edges() []ent.Edge { return []ent.Edge{edge.To("users", User.Type)} }

func (Group) Annotations() []schema.Annotation {
	start := 100
	return []schema.Annotation{entsql.Annotation{Table: "teams", IncrementStart: &start}}
}

type Friendship struct{ ent.Schema }

func (Friendship) Fields() []ent.Field {
	return []ent.Field{field.Int("weight").Default(1), field.Int("user_id"), field.Int("friend_id")}
}

func (Friendship) Edges() []ent.Edge {
	return []ent.Edge{edge.To("user", User.Type).Unique().Required().Field("user_id"), edge.To("friend", User.Type).Unique().Required().Field("friend_id")}
}

func (Friendship) Annotations() []schema.Annotation {
	return []schema.Annotation{field.ID("user_id", "friend_id")}
}
