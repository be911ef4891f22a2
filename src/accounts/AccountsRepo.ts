import { type PlanName } from "#src/plans/Plan.ts"
import { dieOnSql, onUnique } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Option, Schema } from "effect"
import { AccountId } from "./CurrentActor.ts"
import { EmailTaken, UserRow } from "./User.ts"

const SessionRow = Schema.Struct({
  sessionId: Schema.String,
  expiresAt: Schema.DateFromSelf,
  ...UserRow.fields
})

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

    const first = SqlSchema.findAll({
      Request: Schema.Void,
      Result: Schema.Struct({ id: Schema.String }),
      execute: () => sql`SELECT id FROM users LIMIT 1`
    })

    const Identified = Schema.Struct({ id: AccountId })
    const putOnPlan = SqlSchema.findOne({
      Request: Schema.Struct({ email: Schema.String, plan: Schema.String }),
      Result: Identified,
      execute: ({ email, plan }) => sql`UPDATE users SET plan = ${plan} WHERE email = ${email} RETURNING id`
    })
    const putVerified = SqlSchema.findOne({
      Request: Schema.Struct({ email: Schema.String, verified: Schema.Boolean }),
      Result: Identified,
      execute: ({ email, verified }) =>
        sql`UPDATE users SET email_verified_at = CASE WHEN ${verified} THEN coalesce(email_verified_at, now()) END
            WHERE email = ${email} RETURNING id`
    })
    const idOf = Option.map(({ id }: typeof Identified.Type) => id)

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
      /** The account's id; none when no account has the address. So does `setVerified`. */
      setPlan: (email: string, plan: PlanName) => dieOnSql(Effect.map(putOnPlan({ email, plan }), idOf)),
      setVerified: (email: string, verified: boolean) => dieOnSql(Effect.map(putVerified({ email, verified }), idOf)),
      sessionByHash: (hash: Uint8Array, now: Date) => dieOnSql(sessionByHash({ hash, now })),
      insertSession: (row: { id: string; userId: string; tokenHash: Uint8Array; expiresAt: Date }) =>
        dieOnSql(Effect.asVoid(sql`INSERT INTO sessions ${sql.insert(row)}`)),
      extendSession: (id: string, expiresAt: Date) =>
        dieOnSql(Effect.asVoid(sql`UPDATE sessions SET expires_at = ${expiresAt} WHERE id = ${id}`)),
      deleteSession: (id: string) => dieOnSql(Effect.asVoid(sql`DELETE FROM sessions WHERE id = ${id}`)),
      sweep: (now: Date) => dieOnSql(Effect.asVoid(sql`DELETE FROM sessions WHERE expires_at <= ${now}`))
    } as const
  })
}) {}
