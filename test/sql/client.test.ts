import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { DatabaseTest } from "../support/Database.ts"

layer(DatabaseTest)("the client", (it) => {
  it.effect("speaks camelCase to code and snake_case to SQL", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE things (some_name text NOT NULL, some_json jsonb NOT NULL)`
      yield* sql`INSERT INTO things ${
        sql.insert({ someName: "a", someJson: JSON.stringify({ snake_key: { camelKey: 1 } }) })
      }`
      const rows = yield* sql`SELECT * FROM things`
      assert.deepStrictEqual(rows, [{ someName: "a", someJson: { snake_key: { camelKey: 1 } } }])
    }))
})
