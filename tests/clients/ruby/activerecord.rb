# ActiveRecord: migrations, schema dumps, types, associations, queries, writes, locks, transactions. Each test prints what it has seen as a
# line of JSON.
require "active_record"
require "json"
require "stringio"
require "tmpdir"

$stdout.sync = true
PLACE = { adapter: "postgresql", host: ENV["PGHOST"], port: ENV["PGPORT"].to_i, username: ENV["PGUSER"], database: ENV["PGDATABASE"], pool: 5 }.freeze
MOMENT = Time.utc(2024, 2, 29, 12, 30, 15.25)
ActiveRecord::Base.default_timezone = :utc
ActiveRecord::Migration.verbose = false
ActiveRecord::SchemaDumper.ignore_tables = []

class Author < ActiveRecord::Base
  enum role: { guest: 0, admin: 1 }
  has_one :profile, dependent: :destroy
  has_many :books, -> { order(:id) }, dependent: :destroy
  has_many :tags, through: :books
  belongs_to :boss, class_name: "Author", optional: true
  has_many :team, -> { order(:id) }, class_name: "Author", foreign_key: :boss_id
  scope :grown, -> { where("age > ?", 17) }
  store_accessor :settings, :colour
  validates :name, uniqueness: true, on: :strict
end

class Profile < ActiveRecord::Base
  belongs_to :author, touch: true
end

class Book < ActiveRecord::Base
  belongs_to :author, counter_cache: true
  has_and_belongs_to_many :tags, -> { order(:label) }
  has_many :notes, as: :about
end

class Tag < ActiveRecord::Base
  has_and_belongs_to_many :books, -> { order(:id) }
end

class Note < ActiveRecord::Base
  belongs_to :about, polymorphic: true
end

class Vehicle < ActiveRecord::Base
end

class Car < Vehicle
end

class Typed < ActiveRecord::Base
  self.table_name = "typed"
end

MODELS = [Author, Profile, Book, Tag, Note, Vehicle, Car, Typed].freeze

def db
  ActiveRecord::Base.connection
end

def change(&body)
  ActiveRecord::Schema.define(&body)
end

def fill
  change do
    create_table :authors, comment: "who writes" do |t|
      t.string :name, limit: 40, null: false, index: { unique: true }
      t.integer :age, comment: "in years"
      t.integer :role, limit: 2, null: false, default: 0
      t.text :words, array: true, null: false, default: []
      t.jsonb :settings, null: false, default: {}
      t.decimal :score, precision: 8, scale: 2, default: "1.5"
      t.integer :books_count, null: false, default: 0
      t.references :boss, foreign_key: { to_table: :authors, on_delete: :nullify }
      t.integer :lock_version, default: 0
      t.timestamps null: true
      t.check_constraint "age > 0", name: "age_is_positive"
      t.index :settings, using: :gin
      t.index "lower((name)::text) DESC", name: "by_lower_name"
      t.index %i[age name], where: "(age > 17)", order: { age: "DESC NULLS LAST" }, name: "grown"
    end
    create_table(:profiles, id: :uuid) { |t| t.references(:author, null: false, foreign_key: { on_delete: :cascade }, index: { unique: true }); t.text :bio }
    create_table(:books) { |t| t.string :title, null: false; t.belongs_to :author, null: false, foreign_key: { deferrable: false }; t.int4range :pages; t.date :day; t.index %i[author_id title], unique: true }
    create_table(:tags) { |t| t.string :label, null: false, index: { unique: true } }
    create_join_table(:books, :tags) { |t| t.index %i[book_id tag_id], unique: true }
    create_table(:notes) { |t| t.text :text; t.references :about, polymorphic: true }
    create_table(:vehicles) { |t| t.string :type; t.string :name }
  end
  MODELS.each(&:reset_column_information)
  ann = Author.create!(name: "Ann", age: 30, role: :admin, words: ["a", "b c"], settings: { "k" => 1, "l" => [1, { "m" => nil }], "colour" => "red" }, created_at: MOMENT, updated_at: MOMENT)
  ben = Author.create!(name: "Ben", age: 40, boss: ann, created_at: MOMENT, updated_at: MOMENT)
  Author.create!(name: "Cid", boss: ann, created_at: MOMENT, updated_at: MOMENT)
  Profile.create!(author: ann, bio: "first")
  one = ann.books.create!(title: "One", pages: 1...100, day: "2024-01-01")
  ann.books.create!(title: "Two", pages: 50..60, day: "2024-02-01")
  ben.books.create!(title: "Three", day: "2024-01-15")
  one.tags << Tag.create!(label: "red") << Tag.create!(label: "blue")
  one.notes.create!(text: "it's")
  Author.update_all(updated_at: MOMENT)
end

# What the server has told of an error.
def told
  value = yield
  { "no error" => plain(value) }
rescue ActiveRecord::StatementInvalid => e
  of = e.cause
  return [e.class.name, of.class.name] unless of.is_a?(PG::Error) && of.result
  [e.class.name, of.class.name] + [PG::PG_DIAG_SQLSTATE, PG::PG_DIAG_MESSAGE_PRIMARY, PG::PG_DIAG_MESSAGE_DETAIL, PG::PG_DIAG_MESSAGE_HINT, PG::PG_DIAG_TABLE_NAME, PG::PG_DIAG_COLUMN_NAME, PG::PG_DIAG_CONSTRAINT_NAME].map { |field| of.result.error_field(field) }
rescue ActiveRecord::ActiveRecordError, RangeError => e
  [e.class.name, e.message]
end

def plain(value)
  case value
  when ActiveRecord::Base then plain(value.attributes)
  when ActiveRecord::Relation, Array, Set then value.to_a.map { |one| plain(one) }
  when ActiveRecord::Result then plain(value.to_a)
  when Hash then value.to_h { |key, one| [key.to_s, plain(one)] }
  when BigDecimal then value.to_s("F")
  when Float then value.finite? ? value : value.to_s
  when Range then [value.class.name, plain(value.begin), plain(value.end), value.exclude_end?]
  when ActiveSupport::Duration then value.iso8601
  when Time, ActiveSupport::TimeWithZone then (value.utc - Time.now).abs < 3600 ? "now" : value.utc.iso8601(6)
  when Date then value.iso8601
  when IPAddr then "#{value}/#{value.prefix}"
  when String then value.encoding == Encoding::BINARY ? "bytes #{value.unpack1('H*')}" : value.gsub(/\h{8}-\h{4}-4\h{3}-\h{4}-\h{12}/, "an id").gsub(/20(2[5-9]|[3-9]\d)-\d\d-\d\d \d\d:\d\d:\d\d\.\d+/, "now")
  when Integer, true, false, nil then value
  when Symbol then value.to_s
  when Struct then plain(value.to_h)
  when PG::Result then value.cmd_status
  else value.respond_to?(:x) ? [value.x, value.y] : value.to_s
  end
end

def catalog
  ["SELECT table_name, column_name, data_type, udt_name, is_nullable, column_default, character_maximum_length, numeric_precision, numeric_scale, datetime_precision, is_identity FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY 1, ordinal_position",
   "SELECT conrelid::regclass::text AS of, conname, convalidated, pg_get_constraintdef(oid) AS text FROM pg_constraint WHERE connamespace = current_schema()::regnamespace ORDER BY 1, 2",
   "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1"].map { |text| db.select_all(text).to_a }
end

# Without the extensions, which are the database's and have a test of their own.
def dumped
  text = StringIO.new
  ActiveRecord::SchemaDumper.dump(db, text)
  text.string.lines.map(&:chomp).reject { |line| line.start_with?("#") || line.include?("enable_extension") }
end

# Runs the block in another session.
def elsewhere(&body)
  Thread.new { ActiveRecord::Base.connection_pool.with_connection(&body) }.value
end

TESTS = {}
def test(name, filled: true, &body)
  raise "two tests are called #{name}" if TESTS[name]
  TESTS[name] = [filled, body]
end

def tests(group, bodies)
  bodies.each { |name, body| test("#{group}/#{name}", &body) }
end

# Schemas.
tests "schema",
      "made" => -> { catalog },
      "dumped" => -> { dumped },
      "loaded from its dump" => lambda {
        before = dumped
        db.execute("DROP SCHEMA #{db.current_schema} CASCADE; CREATE SCHEMA #{db.current_schema}")
        eval(before.join("\n").sub(/version: \d+/, "version: 0"))
        [dumped == before, catalog]
      },
      "read" => -> { [db.tables.sort, db.views, db.data_source_exists?("authors"), db.primary_key("profiles"), db.table_comment("authors"), db.columns("authors").map { |c| [c.name, c.sql_type, c.type, c.limit, c.precision, c.scale, c.null, c.default, c.default_function, c.comment, c.array] }] },
      "indexes read" => -> { db.tables.sort.map { |t| db.indexes(t).map { |i| [i.table, i.name, i.unique, i.columns, i.orders, i.opclasses, i.where, i.using, i.comment] }.sort_by { |i| i[1] } } },
      "keys and checks read" => -> { db.tables.sort.map { |t| [db.foreign_keys(t).map { |k| [k.from_table, k.to_table, k.options] }.sort_by(&:to_s), db.check_constraints(t).map { |c| [c.name, c.expression] }] } },
      "server read" => -> { [db.database_version / 10_000, db.current_database, db.encoding, db.collation, db.ctype, db.max_identifier_length, db.schema_exists?("public"), db.supports_insert_on_conflict?, db.extension_enabled?("nothing"), db.schema_names.include?("public")] },
      "column added" => -> { change { add_column :books, :price, :decimal, precision: 6, scale: 2, default: 9.5, null: false, comment: "its price" }; [catalog, dumped] },
      "column changed" => -> { change { change_column :authors, :age, :bigint, default: 5, using: "coalesce(age, 1) * 2"; change_column :books, :title, :text; change_column :books, :day, :datetime, precision: 3, default: -> { "now()" } }; catalog },
      "column set not null" => -> { [told { change { change_column_null :authors, :age, false } }, change { change_column_null :authors, :age, false, 1 }, catalog] },
      "default changed" => -> { change { change_column_default :authors, :score, from: "1.5", to: nil; change_column_default :authors, :age, 7 }; [catalog, Author.create!(name: "D").reload.age] },
      "column renamed" => -> { change { rename_column :authors, :name, :called; rename_index :authors, "grown", "adults" }; [catalog, dumped] },
      "column removed" => -> { change { remove_column :authors, :age; remove_reference :books, :author, foreign_key: true }; [catalog, dumped] },
      "table renamed" => -> { change { rename_table :tags, :labels }; [catalog, db.default_sequence_name("labels", "id")] },
      "bulk change" => -> { change { change_table(:books, bulk: true) { |t| t.string :isbn, limit: 13; t.remove :pages; t.rename :day, :printed; t.index :isbn; t.timestamps default: -> { "CURRENT_TIMESTAMP" } } }; catalog },
      "indexes added" => -> { change { add_index :books, :title, algorithm: :concurrently, opclass: :varchar_pattern_ops, name: "by_pattern"; add_index :books, "date_part('year', day)", name: "by_year"; add_index :books, :pages, using: :gist; add_index :books, :day, using: :brin, comment: "by day"; add_index :books, :title, using: :hash, name: "by_hash" }; dumped },
      "foreign key not validated" => -> { change { add_column :tags, :maker, :bigint; add_foreign_key :tags, :authors, column: :maker, on_update: :cascade, on_delete: :restrict, validate: false, name: "made_by" }; seen = [dumped, db.foreign_keys("tags").map { |k| k.validated? }]; db.validate_foreign_key(:tags, name: "made_by"); [seen, db.foreign_keys("tags").map(&:validated?), catalog] },
      "check not validated" => -> { change { add_check_constraint :authors, "length(name) < 9 AND name <> 'it''s'", name: "short", validate: false }; seen = catalog; change { remove_check_constraint :authors, name: "age_is_positive" }; [seen, dumped] },
      "exclusion" => -> { db.execute("ALTER TABLE books ADD CONSTRAINT no_overlap EXCLUDE USING gist (pages WITH &&) WHERE (pages IS NOT NULL AND author_id > 1)"); [catalog, Author.second.books.create!(title: "a", pages: 5..9), told { Author.second.books.create!(title: "b", pages: 9..20) }] },
      "comments" => -> { db.change_table_comment(:books, from: nil, to: "it's"); db.change_column_comment(:books, :title, "the title"); [db.table_comment("books"), db.columns("books").map(&:comment), dumped] },
      "views" => -> { db.execute("CREATE VIEW adults AS SELECT id, name FROM authors WHERE age > 17; CREATE MATERIALIZED VIEW per AS SELECT author_id, count(*) AS n FROM books GROUP BY 1"); [db.views.sort, db.tables.sort, db.view_exists?("per"), db.columns("per").map { |c| [c.name, c.sql_type] }, db.select_all("SELECT * FROM adults ORDER BY id")] },
      "sequences" => -> { db.reset_pk_sequence!("tags"); db.set_pk_sequence!("books", 50); [Tag.create!(label: "z").id, Author.first.books.create!(title: "z").id, db.pk_and_sequence_for("books").map(&:to_s), db.serial_sequence("books", "id")] },
      "schemas" => -> { db.create_schema("ar_more"); seen = db.schema_exists?("ar_more"); db.drop_schema("ar_more"); [seen, db.schema_exists?("ar_more"), db.schema_search_path.sub(/\d+/, "")] },
      "extensions" => -> { db.enable_extension("citext"); seen = [db.extension_enabled?("citext"), db.extensions.sort]; db.disable_extension("citext"); [seen, db.extension_enabled?("citext")] },
      "without checks of keys" => -> { db.disable_referential_integrity { db.execute("INSERT INTO books (title, author_id) VALUES ('orphan', 99)") }; [Book.count, told { db.execute("INSERT INTO books (title, author_id) VALUES ('other', 98)") }] },
      "truncated" => -> { db.truncate_tables("authors", "profiles", "books", "books_tags", "notes", "tags"); [Author.count, Author.create!(name: "N").id] },
      "dropped" => -> { [told { db.drop_table(:authors) }, db.drop_table(:authors, force: :cascade), db.drop_join_table(:books, :tags), db.drop_table(:none, if_exists: true), catalog] }

def migrations(files)
  Dir.mktmpdir do |folder|
    files.each_with_index { |(name, body), i| File.write("#{folder}/#{i + 1}_#{name}.rb", "class #{name.camelize} < ActiveRecord::Migration[6.1]\n#{body}\nend\n") }
    yield ActiveRecord::MigrationContext.new(folder, ActiveRecord::SchemaMigration)
  end
end

FIRST = { "make_cities" => "def change; create_table(:cities) { |t| t.string :name, index: true }; end", "add_size" => "def change; add_column :cities, :size, :integer; add_check_constraint :cities, 'size > 0'; end", "by_hand" => "disable_ddl_transaction!\ndef up; add_index :cities, :size, algorithm: :concurrently; end\ndef down; remove_index :cities, :size; end" }.freeze
test("migrations/up and down", filled: false) { migrations(FIRST) { |m| seen = [m.needs_migration?, m.migrate.map(&:name), m.current_version, m.migrations_status, dumped]; m.down(1); seen + [m.current_version, dumped, m.forward(1).map(&:name), m.rollback(2).map(&:name), db.tables.sort, db.select_all("SELECT key, value FROM ar_internal_metadata")] } }
test("migrations/failing", filled: false) { migrations(FIRST.slice("make_cities").merge("half" => "def change; create_table(:halves); execute('SELECT 1/0'); end")) { |m| [begin m.migrate; rescue StandardError => e; [e.class.name, e.message.lines.map(&:strip).reject(&:empty?).first(3)]; end, m.current_version, db.table_exists?("halves")] } }
test("migrations/one at a time", filled: false) do
  migrations(FIRST.slice("make_cities")) do |m|
    key = 2_053_462_845 * Zlib.crc32(db.current_database)
    held = elsewhere { |other| other.get_advisory_lock(key) }
    seen = begin m.migrate; rescue StandardError => e; e.class.name; end
    locks = db.select_all("SELECT locktype, mode, granted, classid::bigint << 32 | objid::bigint AS key, objsubid FROM pg_locks WHERE locktype = 'advisory'").to_a.map { |row| row.merge("key" => row["key"] == key) }
    ActiveRecord::Base.connection_pool.disconnect!
    [held, seen, locks, m.migrate.map(&:name)]
  end
end
test("migrations/reverted", filled: false) { migrations(FIRST.slice("make_cities").merge("undo" => "def change; revert { create_table(:cities) { |t| t.string :name, index: true } }; end")) { |m| m.migrate; seen = db.tables.sort; m.rollback; [seen, db.tables.sort, dumped] } }

# Types: a column, its array, a default; what is read back in Ruby and in text, and how the column is dumped.
ranges = { int4range: 1...5, int8range: 1..(2**40), numrange: BigDecimal("0.5")..BigDecimal("1.5"), daterange: Date.new(2024, 1, 1)...Date.new(2024, 2, 1), tsrange: MOMENT..MOMENT + 60, tstzrange: MOMENT...Float::INFINITY }
{ string: ["it's", "x"], text: ["a\nb", ""], integer: [-5, 7], bigint: [2**60, 1], float: [0.1, 1e300], decimal: ["12345678901234567890.5", "1"], boolean: [true, false], date: [Date.new(2024, 2, 29), Date.new(1, 1, 1)], datetime: [MOMENT, Time.utc(1900)], timestamp: [MOMENT, nil], timestamptz: [MOMENT, nil], time: ["12:30:15", "00:00:00"], binary: ["\x00\xff".b, "a".b], uuid: ["a0eebc99-9c0b-1ef8-bb6d-6bb9bd380a11", nil], json: [{ "a" => [1, nil] }, [1]], jsonb: [{ "b" => "it's" }, "text"], hstore: [{ "a" => "1", "b" => nil }, {}], inet: ["10.0.0.1", "::1/64"], cidr: ["10.0.0.0/8", nil], macaddr: ["08:00:2b:01:02:03", nil], bit: ["1", nil], bit_varying: ["1011", nil], interval: [3.days + 2.hours, 1.year + 2.months], money: ["1000.50", "-1"],
  point: [[1.5, 2.0], nil], line: ["{1,2,3}", nil], lseg: ["((0,0),(1,1))", nil], box: ["(2,2),(0,0)", nil], path: ["((0,0),(1,1))", nil], polygon: ["((0,0),(1,1),(1,0))", nil], circle: ["<(1,1),2>", nil], ltree: ["a.b.c", nil], citext: ["Text", nil], xml: ["<a/>", nil], tsvector: ["'a':1 'b':2", nil], oid: [26, nil] }.merge(ranges.transform_values { |r| [r, nil] }).each do |type, values|
  test("types/#{type}", filled: false) do
    extension = { hstore: "hstore", citext: "citext", ltree: "ltree" }[type]
    db.execute("CREATE EXTENSION IF NOT EXISTS #{extension} SCHEMA public") if extension
    db.send(:reload_type_map)
    change { create_table(:typed) { |t| t.column :v, type; t.column :many, type, array: true unless %i[json jsonb xml tsvector hstore oid binary].include?(type) } }
    Typed.reset_column_information
    rows = values.map { |value| Typed.create!(v: value, **(Typed.column_names.include?("many") && type != :point ? { many: [value, nil, value] } : {})) }
    found = values.first.nil? || %i[json xml point line lseg box path polygon circle].include?(type) ? nil : Typed.where(v: values.first).count
    [rows.map(&:reload), db.select_values("SELECT v::text FROM typed ORDER BY id"), db.select_all("SELECT * FROM typed ORDER BY id").columns, found, dumped]
  end
end
test("types/enum of the server", filled: false) { db.execute("CREATE TYPE mood AS ENUM ('sad', 'so so')"); db.execute("CREATE TABLE typed (id serial PRIMARY KEY, v mood DEFAULT 'sad', many mood[])"); Typed.reset_column_information; Typed.create!(v: "so so", many: ["sad", nil]); Typed.create!; [Typed.order(:id), Typed.columns.map { |c| [c.name, c.sql_type, c.type] }, told { Typed.create!(v: "mad") }, dumped] }
test("types/defaults", filled: false) { change { create_table(:typed) { |t| t.string :s, default: "it's", limit: 9; t.integer :i, default: -3; t.bigint :b, default: 2**40; t.decimal :n, precision: 5, scale: 2, default: -1.25; t.boolean :t, default: true; t.date :d, default: "2024-01-01"; t.datetime :at, precision: 6, default: -> { "CURRENT_TIMESTAMP" }; t.uuid :u, default: -> { "gen_random_uuid()" }; t.jsonb :j, default: { a: [1] }; t.integer :a, array: true, default: [1, 2]; t.text :w, array: true, default: ["x y", ","]; t.binary :raw, default: "\x01".b; t.interval :span, default: "P1D"; t.virtual :never, type: :integer, as: "i" if false; t.inet :ip, default: "10.0.0.1"; t.int4range :r, default: 1...3; t.float :f, default: 1.5; t.time :c, default: "12:00" } }; Typed.reset_column_information; [dumped, catalog, Typed.create!.reload] }
test("types/identity and generated", filled: false) { db.execute("CREATE TABLE typed (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, a int, twice int GENERATED ALWAYS AS (a * 2) STORED)"); Typed.reset_column_information; [db.insert("INSERT INTO typed (a) VALUES (4)"), db.select_all("SELECT * FROM typed"), Typed.columns.map { |c| [c.name, c.default, c.default_function] }, dumped] }

# Queries.
names = ->(relation) { relation.map(&:name) }
tests "queries",
      "where" => -> { [names[Author.where(name: %w[Ann Cid]).order(:id)], names[Author.where(age: 35..45)], names[Author.where(age: nil)], names[Author.where.not(age: nil).order(:id)], names[Author.where(age: 31..)], names[Author.where("name LIKE :n OR age = :a", n: "C%", a: 30).order(:id)], names[Author.grown.or(Author.where(name: "Cid")).order(:id)], names[Author.admin], names[Author.where(words: ["a", "b c"])]] },
      "json and arrays" => -> { [names[Author.where("settings @> ?", { k: 1 }.to_json)], names[Author.where("settings ->> 'colour' = 'red'")], names[Author.where("? = ANY (words)", "b c")], names[Author.where("words && ARRAY[?]", %w[a z])], Author.pluck(Arel.sql("settings #> '{l,1}'")), names[Author.where("settings @? '$.l[*] ? (@ == 1)'")]] },
      "ranges" => -> { [Book.where("pages @> ?", 55).order(:id).pluck(:title), Book.where("pages && int4range(60, 70)").pluck(:title), Book.where(day: Date.new(2024, 1, 1)..Date.new(2024, 1, 31)).order(:id).pluck(:title), Book.order(:id).pluck(:pages)] },
      "joins" => -> { [Author.joins(:books).order("books.id").pluck(:name, "books.title"), names[Author.left_joins(:books).where(books: { id: nil })], Book.joins(:tags, author: :profile).order("tags.label").pluck(:title, :label, :bio), names[Author.where.missing(:profile).order(:id)]] },
      "eager" => -> { [Author.includes(:books, :profile).order(:id).map { |a| [a.name, a.books.map(&:title), a.profile&.bio] }, Author.eager_load(books: :tags).order(:id, "books.id", "tags.label").map { |a| [a.name, a.books.map { |b| [b.title, b.tags.map(&:label)] }] }, Author.preload(:team).order(:id).map { |a| names[a.team] }] },
      "aggregates" => -> { [Author.count, Author.count(:age), Author.sum(:age), Author.average(:age), Author.maximum(:name), Author.group(:role).count, Book.group(:author_id).order(:author_id).having("count(*) > 1").count, Book.group("date_trunc('month', day)").order(1).count, Author.distinct.count(:boss_id), Author.group(:boss_id, :role).order(1).sum(:score)] },
      "plucks" => -> { [Author.order(:id).pluck(:id, :score, :role), Author.order(:id).pick(:name), Author.ids.sort, Author.order(:id).select("name, age * 2 AS twice").map { |a| [a.name, a.twice] }, Author.exists?(age: 30), Author.where(age: 99).none?] },
      "sub-queries" => -> { [names[Author.where(id: Book.select(:author_id)).order(:id)], Author.from(Author.grown, :authors).count, names[Author.where("EXISTS (?)", Book.where("books.author_id = authors.id AND title = 'Three'"))], Author.find_by_sql("WITH n AS (SELECT author_id, count(*) AS n FROM books GROUP BY 1) SELECT authors.*, n FROM authors JOIN n ON author_id = id ORDER BY id").map { |a| [a.name, a.n] }] },
      "order and limits" => -> { [names[Author.order(age: :desc)], names[Author.order(Author.arel_table[:age].asc.nulls_first)], names[Author.order(:id).offset(1).limit(1)], names[Author.order(:id).reverse_order], Author.last.name, Author.order(:name).second_to_last.name, Book.select("DISTINCT ON (author_id) *").order(:author_id, title: :desc).map(&:title)] },
      "in batches" => -> { [Author.find_each(batch_size: 2).map(&:name), Author.in_batches(of: 2).map { |b| b.pluck(:name).sort }] },
      "through and polymorphic" => -> { ann = Author.first; [ann.tags.uniq.map(&:label), ann.books.first.notes.map { |n| [n.text, n.about_type, n.about.title] }, ann.team.map(&:name), Author.second.boss.name, Tag.first.books.map(&:title)] },
      "arel" => -> { a = Author.arel_table; [names[Author.where(a[:name].matches("a%").or(a[:age].gteq(40))).order(:id)], names[Author.where(a[:name].matches_regexp("^[AB]")).order(:id)], Author.order(:id).pluck(Arel::Nodes::NamedFunction.new("coalesce", [a[:age], Arel.sql("0")])), Author.order(:id).pluck(Arel::Nodes::Case.new.when(a[:age].gt(35)).then("old").else("young")), db.select_values(Author.grown.select(:name).arel.union(Tag.select(:label).arel).to_sql).sort] },
      "explained" => -> { Author.where(age: 30).explain.lines.first.start_with?("EXPLAIN for:") },
      "bound" => -> { bind = ->(value, type) { ActiveRecord::Relation::QueryAttribute.new("v", value, type) }; [db.exec_query("SELECT $1::text AS a, $2::jsonb AS b, $3::int + 1 AS c", nil, [bind["x", ActiveModel::Type::String.new], bind['{"c":1}', ActiveModel::Type::String.new], bind[4, ActiveModel::Type::Integer.new]]).to_a, db.exec_query("SELECT 1::bigint AS i, 1.5 AS n, true AS t, ARRAY[1,2] AS a, '(1,2)'::point AS p, '1 day'::interval AS d").cast_values] },
      "inheritance" => -> { Car.create!(name: "c"); Vehicle.create!(name: "v"); [Vehicle.order(:id).map { |v| [v.class.name, v.name] }, Car.count] }

# Writes.
tests "writes",
      "created" => -> { Author.create!(name: "Dan", words: ["x\"y", "{}"], settings: [1]).reload },
      "saved" => -> { ann = Author.first; ann.words << "c"; ann.colour = "blue"; ann.age += 1; ann.save!; [ann.saved_changes.keys.sort, ann.reload] },
      "updated" => -> { [Author.where(age: 30).update_all("age = age + 1"), Author.grown.joins(:books).where(books: { title: "Three" }).update_all(score: 9), Author.increment_counter(:age, 2), Author.order(:id).pluck(:age, :score)] },
      "insert_all" => -> { [Tag.insert_all([{ label: "red" }, { label: "new" }], returning: %w[id label]).rows.map(&:last), Tag.insert_all!([{ label: "n2" }]).length, told { Tag.insert_all!([{ label: "red" }]) }, Tag.insert_all([{ label: "n2" }, { label: "n3" }], unique_by: :label).rows.length, Tag.count] },
      "upsert_all" => -> { [Author.upsert_all([{ name: "Ann", age: 77, updated_at: MOMENT, created_at: MOMENT }, { name: "Eve", age: 5, updated_at: MOMENT, created_at: MOMENT }], unique_by: :index_authors_on_name, returning: %w[id age]).to_a, Author.upsert({ id: 2, name: "Ben", age: 1, updated_at: MOMENT, created_at: MOMENT }).length, Author.order(:id).pluck(:id, :name, :age)] },
      "deleted" => -> { [Book.where(title: "Two").delete_all, Author.second.destroy.name, Author.count, Book.count, told { Author.delete(1) }, Book.joins(:author).where(authors: { name: "Ann" }).delete_all] },
      "counters and touch" => -> { ann = Author.first; ann.books.create!(title: "Four"); ann.reload; seen = ann.books_count; Author.reset_counters(ann.id, :books); Author.update_counters(ann.id, books_count: -1); [seen, ann.reload.books_count, ann.profile.tap { |p| p.update!(bio: "b") }.author.reload.updated_at] },
      "many to many" => -> { book = Book.second; book.tag_ids = Tag.ids; seen = book.tags.map(&:label); book.tags.delete(Tag.find_by!(label: "red")); [seen, book.reload.tags.map(&:label), told { db.execute("INSERT INTO books_tags VALUES (1, 1)") }] },
      "found or created" => -> { [Tag.find_or_create_by!(label: "red").id, Tag.find_or_create_by!(label: "n").label, Tag.create_or_find_by!(label: "red").id, Tag.count] },
      "unique violated" => -> { told { Author.create!(name: "Ann") } }, "not null violated" => -> { told { Author.new.save!(validate: false) } }, "check violated" => -> { told { Author.create!(name: "N", age: -1) } }, "foreign key violated" => -> { told { Book.insert!({ title: "x", author_id: 99 }) } }, "too long" => -> { told { Author.create!(name: "N" * 41) } }, "out of range" => -> { [told { Author.create!(name: "N", age: 2**40) }, told { db.execute("UPDATE authors SET age = 3000000000") }] }, "bad SQL" => -> { [told { db.execute("SELEC 1") }, told { db.execute("SELECT nothing FROM authors") }, told { db.execute("SELECT * FROM nowhere") }, told { db.execute("SELECT 1/0") }] },
      "stale" => -> { one = Author.first; Author.first.update!(age: 2); told { one.update!(age: 3) }[0] },
      "quoted" => -> { db.select_rows("SELECT #{db.quote("it's \\ x")}, #{db.quote(MOMENT)}, #{db.quote(true)}, #{db.quote(BigDecimal('1.5'))}, #{db.quote(nil)} IS NULL, #{db.quote_column_name('a"b')} FROM (SELECT 1 AS #{db.quote_column_name('a"b')}) q") }

# Transactions and locks.
back = ->(&body) { Author.transaction { body.call; raise ActiveRecord::Rollback } }
tests "transactions",
      "committed" => -> { Author.transaction { Tag.create!(label: "t") }; Tag.count },
      "rolled back" => -> { back.call { Tag.create!(label: "t") }; Tag.count },
      "nested" => -> { Author.transaction { Tag.create!(label: "out"); Author.transaction(requires_new: true) { Tag.create!(label: "in"); raise ActiveRecord::Rollback }; Author.transaction(requires_new: true) { Tag.create!(label: "kept") } }; Tag.order(:label).pluck(:label) },
      "error within" => -> { told { Author.transaction { begin; db.execute("SELECT 1/0"); rescue ActiveRecord::StatementInvalid; nil; end; Tag.count } } },
      "isolation" => -> { %i[read_uncommitted read_committed repeatable_read serializable].map { |level| Author.transaction(isolation: level) { db.select_value("SHOW transaction_isolation") } } },
      "serialization failure" => -> { told { Author.transaction(isolation: :repeatable_read) { Author.find(1).age; elsewhere { Author.where(id: 1).update_all(age: 8) }; Author.where(id: 1).update_all(age: 9) } } },
      "locked" => -> { Author.transaction { ann = Author.lock.find(1); [ann.name, elsewhere { told { Author.lock("FOR UPDATE NOWAIT").find(1) } }, elsewhere { Author.lock("FOR UPDATE SKIP LOCKED").order(:id).pluck(:name) }, elsewhere { Author.lock("FOR KEY SHARE SKIP LOCKED").order(:id).pluck(:name) }] } },
      "with_lock" => -> { ann = Author.first; ann.with_lock { ann.update!(age: 3); elsewhere { told { Author.transaction { db.execute("SET LOCAL lock_timeout = 50"); Author.lock.find(1) } } } } },
      "deadlock" => lambda {
        ready = Queue.new
        turn = Queue.new
        other = Thread.new { ActiveRecord::Base.connection_pool.with_connection { told { Author.transaction { Author.lock.find(2); ready << 1; turn.pop; Author.lock.find(1); 0 } } } }
        mine = told { Author.transaction { ready.pop; Author.lock.find(1); turn << 1; sleep 0.2; Author.lock.find(2); 0 } }
        [mine, other.value].map { |one| one.is_a?(Array) ? one.first(4).grep_v(/\d{3,} / ) : one.keys }.sort_by(&:to_s)
      },
      "statement timeout" => -> { told { Author.transaction { db.execute("SET LOCAL statement_timeout = 50"); db.execute("SELECT pg_sleep(20)") } } },
      "advisory locks" => -> { [db.get_advisory_lock(42), elsewhere { |c| c.get_advisory_lock(42) }, db.release_advisory_lock(42), elsewhere { |c| [c.get_advisory_lock(42), c.release_advisory_lock(42)] }, db.release_advisory_lock(42)] },
      "prepared statements" => -> { seen = (1..3).map { |id| Author.find_by(id: id).name }; count = db.select_value("SELECT count(*) FROM pg_prepared_statements").positive?; db.execute("ALTER TABLE authors ADD extra int"); [seen, count, Author.find_by(id: 1).name, db.clear_cache!, db.select_value("SELECT count(*) FROM pg_prepared_statements")] },
      "prepared within" => -> { Author.find_by(id: 1); told { Author.transaction { Author.find_by(id: 1); db.execute("ALTER TABLE authors DROP score"); Author.find_by(id: 1) } } },
      "reconnected" => -> { db.reconnect!; [db.active?, Author.count, db.execute("SET application_name = 'x'").cmd_status, db.tap(&:reset!).select_value("SHOW application_name") != "x"] },
      "notices and settings" => -> { [db.client_min_messages, db.tap { |c| c.client_min_messages = "error" }.client_min_messages, db.select_value("SHOW standard_conforming_strings"), db.select_value("SHOW intervalstyle"), db.select_value("SHOW timezone")] }

TESTS.each_with_index do |(name, (filled, body)), number|
  line = { name: name }
  begin
    schema = "ar_#{number}"
    ActiveRecord::Base.establish_connection(PLACE)
    db.execute("SET client_min_messages = warning; DROP SCHEMA IF EXISTS #{schema} CASCADE; CREATE SCHEMA #{schema}")
    ActiveRecord::Base.establish_connection(**PLACE, schema_search_path: "#{schema},public")
    ActiveRecord::SchemaMigration.reset_column_information
    ActiveRecord::InternalMetadata.reset_column_information
    fill if filled
    line[:value] = JSON.parse(JSON.generate(plain(body.call)).gsub(schema, "own"))
  rescue StandardError, SyntaxError => e
    line[:error] = "#{e.class}: #{e.message[0, 600]} #{e.backtrace.grep(/activerecord\.rb/).first(2)}"
  end
  $stdout.puts JSON.generate(line)
  ActiveRecord::Base.establish_connection(PLACE)
  db.execute("SET client_min_messages = warning; DROP SCHEMA IF EXISTS #{schema} CASCADE") rescue nil
end
