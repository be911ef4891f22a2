import { dieOnSql, onUnique } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Option, Schema } from "effect"
import { EmailTaken, UserRow } from "./User.ts"

const SessionRow = Schema.Struct({
  sessionId: Schema.String,
  expiresAt: Schema.DateFromSelf,
  ...UserRow.fields
})

const Attempts = Schema.Struct({ count: Schema.Int, oldest: Schema.DateFromSelf })

export class AccountsRepo extends Effect.Service<AccountsRepo>()("accounts/AccountsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const insertUser = SqlSchema.single({
      Request: UserRow.pick("id", "email", "name", "passwordHash"),
      Result: UserRow,
      execute: (row) => sql`INSERT INTO users ${sql.insert(row)} RETURNING *`
    })
    const userByEmail = SqlSchema.findOne({
      Request: Schema.String,
      Result: UserRow,
      execute: (email) => sql`SELECT * FROM users WHERE email = ${email}`
    })
    const userById = SqlSchema.single({
      Request: Schema.String,
      Result: UserRow,
      execute: (id) => sql`SELECT * FROM users WHERE id = ${id}`
    })
    const userIfAny = SqlSchema.findOne({
      Request: Schema.String,
      Result: UserRow,
      execute: (id) => sql`SELECT * FROM users WHERE id = ${id}`
    })
    const sessionByHash = SqlSchema.findOne({
      Request: Schema.Struct({ hash: Schema.Uint8ArrayFromSelf, now: Schema.DateFromSelf }),
      Result: SessionRow,
      execute: ({ hash, now }) =>
        sql`SELECT s.id AS session_id, s.expires_at, u.* FROM sessions s JOIN users u ON u.id = s.user_id
            WHERE s.token_hash = ${hash} AND s.expires_at > ${now}`
    })
    const attempts = SqlSchema.single({
      Request: Schema.Struct({ bucket: Schema.Uint8ArrayFromSelf, since: Schema.DateFromSelf }),
      Result: Attempts,
      execute: ({ bucket, since }) =>
        sql`SELECT count(*)::int AS count, coalesce(min(attempted_at), now()) AS oldest
            FROM login_attempts WHERE bucket = ${bucket} AND attempted_at > ${since}`
    })

    const first = SqlSchema.findAll({
      Request: Schema.Void,
      Result: Schema.Struct({ id: Schema.String }),
      execute: () => sql`SELECT id FROM users LIMIT 1`
    })

    return {
      anybody: dieOnSql(Effect.map(first(), (rows) => rows.length > 0)),
      insertUser: (row: Pick<typeof UserRow.Type, "id" | "email" | "name" | "passwordHash">) =>
        insertUser(row).pipe(
          onUnique("users_email_key", () => new EmailTaken()),
          dieOnSql
        ),
      userByEmail: (email: string) => dieOnSql(userByEmail(email)),
      userById: (id: string) => userById(id).pipe(dieOnSql),
      userIfAny: (id: string) => dieOnSql(userIfAny(id)),
      sessionByHash: (hash: Uint8Array, now: Date) => dieOnSql(sessionByHash({ hash, now })),
      insertSession: (row: { id: string; userId: string; tokenHash: Uint8Array; expiresAt: Date }) =>
        dieOnSql(Effect.asVoid(sql`INSERT INTO sessions ${sql.insert(row)}`)),
      extendSession: (id: string, expiresAt: Date) =>
        dieOnSql(Effect.asVoid(sql`UPDATE sessions SET expires_at = ${expiresAt} WHERE id = ${id}`)),
      deleteSession: (id: string) => dieOnSql(Effect.asVoid(sql`DELETE FROM sessions WHERE id = ${id}`)),
      /**
       * Counts an attempt unless `limit` of them were counted since `since`: then the oldest of those. Attempts of one
       * bucket wait for each other, so that many at once are counted as they would be one by one.
       */
      claimAttempt: (bucket: Uint8Array, at: Date, since: Date, limit: number) =>
        Effect.gen(function*() {
          yield* sql`SELECT pg_advisory_xact_lock(hashtextextended(encode(${bucket}, 'hex'), 0))`
          const { count, oldest } = yield* attempts({ bucket, since })
          if (count >= limit) return Option.some(oldest)
          yield* sql`INSERT INTO login_attempts ${sql.insert({ bucket, attemptedAt: at })}`
          return Option.none<Date>()
        }).pipe(sql.withTransaction, dieOnSql),
      forgetAttempts: (bucket: Uint8Array) =>
        dieOnSql(Effect.asVoid(sql`DELETE FROM login_attempts WHERE bucket = ${bucket}`)),
      /** Drops what can no longer count: expired sessions, attempts before `attemptsBefore`. */
      sweep: (now: Date, attemptsBefore: Date) =>
        dieOnSql(
          sql`DELETE FROM sessions WHERE expires_at <= ${now}`.pipe(
            Effect.zipRight(sql`DELETE FROM login_attempts WHERE attempted_at <= ${attemptsBefore}`),
            Effect.asVoid
          )
        )
    } as const
  })
}) {}
