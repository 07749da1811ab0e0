// What the programs of this folder share. A test returns what it has seen; each is printed as one line of JSON, and
// suites/ compares what is seen of PostgreSQL with what is seen of Ouzel.

const tests = [];

/** Where the server is. */
export const place = {
   host: process.env.PGHOST, port: Number(process.env.PGPORT), user: process.env.PGUSER, database: process.env.PGDATABASE,
};
export const url = `postgres://${place.user}@${place.host}:${place.port}/${place.database}`;

export function test(name, run) {
   if (tests.some((one) => one.name === name)) throw new Error(`two tests are called ${name}`);
   tests.push({ name, run });
}

/** What a client tells of an error: what does not change from server to server. */
export function told(error) {
   const from = error.original ?? error.driverError ?? error.cause ?? error;
   const wanted = ['severity', 'code', 'detail', 'hint', 'position', 'schema', 'table', 'column', 'dataType', 'constraint',
      'schema_name', 'table_name', 'column_name', 'constraint_name'];
   return { kind: error.constructor.name, message: from.message,
      ...Object.fromEntries(wanted.filter((key) => from[key] !== undefined).map((key) => [key, from[key]])) };
}

/** The error that `run` must end with. */
export async function errorOf(run) {
   let value;
   try {
      value = await (typeof run === 'function' ? run() : run);
   } catch (error) {
      return told(error);
   }
   throw new Error(`no error, but ${JSON.stringify(plain(value))}`);
}

export const pause = (millis) => new Promise((done) => setTimeout(done, millis));

/** A value as JSON can show it. */
function plain(value, depth = 0) {
   if (depth > 12) return '...';
   if (value === undefined) return null;
   if (typeof value === 'string') return value.replace(/pg_(toast_)?temp_\d+/g, 'pg_$1temp');
   if (value === null || typeof value === 'boolean') return value;
   if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
   if (typeof value === 'bigint') return `${value}n`;
   if (typeof value === 'function') return 'function';
   if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'no date' : value.toISOString();
   if (Buffer.isBuffer(value) || value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('hex')}`;
   if (Array.isArray(value)) return Array.from(value, (one) => plain(one, depth + 1));
   if (value instanceof Map) return plain([...value], depth + 1);
   if (value instanceof Set) return plain([...value], depth + 1);
   if (typeof value.toJSON === 'function') return plain(value.toJSON(), depth + 1);
   return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one, depth + 1)]));
}

/** Runs all tests, one after the other; then `end`. */
export async function run(end = async () => {}) {
   for (const { name, run: body } of tests) {
      const line = { name };
      let timer;
      try {
         const late = new Promise((_, fail) => {
            timer = setTimeout(() => fail(new Error('no end after 30 s')), 30_000);
         });
         line.value = plain(await Promise.race([Promise.resolve().then(body), late]));
      } catch (error) {
         line.error = `${error.stack ?? error}`.slice(0, 1500);
      }
      clearTimeout(timer);
      process.stdout.write(`${JSON.stringify(line)}\n`);
   }
   await Promise.race([end(), pause(5000)]);
   process.exit(0);
}

process.on('unhandledRejection', (error) => process.stderr.write(`unhandled: ${error?.stack ?? error}\n`));
process.on('uncaughtException', (error) => process.stderr.write(`uncaught: ${error?.stack ?? error}\n`));
