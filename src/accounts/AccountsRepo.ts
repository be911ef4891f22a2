import { prepared } from "#src/format/prepared.ts"
import { type PlanName } from "#src/plans/Plan.ts"
import { anyRow, dieOnSql, maybe, one, onUnique, run } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { AccountId } from "./CurrentActor.ts"
import { EmailTaken, UserRow } from "./User.ts"

const SessionRow = Schema.Struct({
  sessionId: Schema.String,
  expiresAt: Schema.DateFromSelf,
  ...UserRow.pick("id", "email", "plan").fields
})

export class AccountsRepo extends Effect.Service<AccountsRepo>()("accounts/AccountsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const insertUser = SqlSchema.single({
      Request: UserRow.pick("id", "email", "name", "passwordHash"),
      Result: UserRow,
      execute: (row) => sql`INSERT INTO users ${sql.insert(row)} RETURNING *`
    })

    const Id = Schema.Struct({ id: AccountId }).pipe(Schema.pluck("id"))

    return {
      anybody: anyRow(sql`SELECT id FROM users LIMIT 1`),
      insertUser: (row: Pick<typeof UserRow.Type, "id" | "email" | "name" | "passwordHash">) =>
        insertUser(row).pipe(
          onUnique("users_email_key", () => new EmailTaken()),
          dieOnSql
        ),
      userByEmail: maybe(UserRow)((email: string) => sql`SELECT * FROM users WHERE email = ${email}`),
      userById: one(UserRow)((id: string) => sql`SELECT * FROM users WHERE id = ${id}`),
      userIfAny: maybe(UserRow)((id: string) => sql`SELECT * FROM users WHERE id = ${id}`),
      /** Returns the account's id; none when no account has the address. The same for `setVerified`. */
      setPlan: maybe(Id)((email: string, plan: PlanName) =>
        sql`UPDATE users SET plan = ${plan} WHERE email = ${email} RETURNING id`
      ),
      setPlanOf: (id: string, plan: PlanName) => run(sql`UPDATE users SET plan = ${plan} WHERE id = ${id}`),
      setPeriodOf: (id: string, start: Date | null, end: Date | null) =>
        run(sql`UPDATE users SET period_start = ${start}, period_end = ${end} WHERE id = ${id}
          AND (period_start, period_end) IS DISTINCT FROM (${start}::timestamptz, ${end}::timestamptz)`),
      setVerified: maybe(Id)((email: string, verified: boolean) =>
        sql`UPDATE users SET email_verified_at = CASE WHEN ${verified} THEN coalesce(email_verified_at, now()) END
            WHERE email = ${email} RETURNING id`
      ),
      sessionByHash: maybe(SessionRow)((hash: Uint8Array, now: Date) =>
        sql`${sql.literal(prepared)}
            SELECT s.id AS session_id, s.expires_at, u.id, u.email, u.plan FROM sessions s JOIN users u ON u.id = s.user_id
            WHERE s.token_hash = ${hash} AND s.expires_at > ${now}`
      ),
      insertSession: (row: { id: string; userId: string; tokenHash: Uint8Array; expiresAt: Date }) =>
        run(sql`INSERT INTO sessions ${sql.insert(row)}`),
      extendSession: (id: string, expiresAt: Date) =>
        run(sql`UPDATE sessions SET expires_at = ${expiresAt} WHERE id = ${id}`),
      deleteSession: (id: string) => run(sql`DELETE FROM sessions WHERE id = ${id}`),
      sweep: (now: Date) => run(sql`DELETE FROM sessions WHERE expires_at <= ${now}`)
    } as const
  })
}) {}
