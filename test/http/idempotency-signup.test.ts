import { randomUUID } from "node:crypto"
import { describe, expect, it } from "vitest"
import { failure, invalid } from "../contract/shapes.ts"
import { newEmail } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { freshAddress } from "../support/http.ts"
import { runSql } from "../support/sql.ts"

const berth = useBerth()
const password = "correct horse battery"
const address = freshAddress()
const signUp = (key: string, body: unknown, from = address) =>
  berth.request<{ data: { token: string; user: { id: string } } }>("POST", "/v1/auth/signup", {
    body,
    headers: { "idempotency-key": key, "x-forwarded-for": from }
  })
const mismatch = invalid("Idempotency-Key")

describe("a sign-up that is sent again with its Idempotency-Key", () => {
  it("gets the session of the first, its cookie too, and makes one account", async () => {
    const [key, email] = [randomUUID(), newEmail()]
    const first = await signUp(key, { email, password })
    const again = await signUp(key, { email, password })
    expect([first.status, again.status, again.body]).toEqual([201, 201, first.body])
    expect(again.headers.get("set-cookie")).toBe(first.headers.get("set-cookie"))
    expect(again.headers.get("set-cookie")).toContain(first.body.data.token)
    const me = await berth.request("GET", "/v1/auth/me", { token: again.body.data.token })
    expect([me.status, me.body]).toMatchObject([200, { data: { user: { id: first.body.data.user.id } } }])
    expect(await runSql(berth.databaseUrl, "SELECT FROM users WHERE email = $1", [email])).toHaveLength(1)
  })

  it("while the first runs is 409 or gets its answer, and makes one account", async () => {
    const [key, email] = [randomUUID(), newEmail()]
    const answers = await Promise.all([1, 2, 3, 4].map(() => signUp(key, { email, password })))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 409]))
    const again = await signUp(key, { email, password })
    for (const { body, status } of answers) if (status === 201) expect(body).toEqual(again.body)
    expect(await runSql(berth.databaseUrl, "SELECT FROM users WHERE email = $1", [email])).toHaveLength(1)
  })

  it("is the same however it is written, and another when it means another", async () => {
    const [key, email] = [randomUUID(), newEmail()]
    const first = await signUp(key, { email, password })
    const rewritten = `{\n  "password": ${JSON.stringify(password)},\n  "email": "\\u0075${email.slice(1)}"\n}`
    expect((await signUp(key, rewritten)).body).toEqual(first.body)
    const other = await signUp(key, { email, password: `${password}!` })
    expect([other.status, other.body]).toEqual([422, mismatch])
  })

  it("is nobody else's: the same key of another address signs that one up", async () => {
    const key = randomUUID()
    const answers = await Promise.all([newEmail(), newEmail()].map((email) => signUp(key, { email, password })))
    expect(answers.map(({ status }) => status)).toEqual([201, 201])
    expect(new Set(answers.map(({ body }) => body.data.token)).size).toBe(2)
  })

  it("is nobody's elsewhere: with the right password too the address is taken, and no session is handed out", async () => {
    const [key, email] = [randomUUID(), newEmail()]
    expect((await signUp(key, { email, password })).status).toBe(201)
    for (const guess of [password, `${password}!`]) {
      const elsewhere = await signUp(key, { email, password: guess }, freshAddress())
      expect([elsewhere.status, elsewhere.body]).toEqual([409, failure("CONFLICT")])
    }
  })

  it("is tried again after a failure, and without the key finds the address taken", async () => {
    const [key, email] = [randomUUID(), newEmail()]
    expect((await signUp(key, { email, password: "short" })).status).toBe(422)
    expect((await signUp(key, { email, password })).status).toBe(201)
    const plain = await berth.request("POST", "/v1/auth/signup", { body: { email, password } })
    expect([plain.status, plain.body]).toEqual([409, failure("CONFLICT")])
  })

  it("leaves nothing readable in the database", async () => {
    const [key, email] = [randomUUID(), newEmail()]
    const { body } = await signUp(key, { email, password })
    const rows = await runSql(berth.databaseUrl, "SELECT * FROM idempotency_keys")
    const stored = JSON.stringify(rows)
    for (const secret of [body.data.token, password, email]) expect(stored).not.toContain(secret)
  })
})
