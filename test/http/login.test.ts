import { beforeAll, describe, expect, it } from "vitest"
import { failure } from "../contract/shapes.ts"
import { type Account, newEmail } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { freshAddress } from "../support/http.ts"
import { runSql } from "../support/sql.ts"

const berth = useBerth()
const minute = 60_000
const day = 24 * 60 * minute

const logIn = (email: string, password: string, address: string) =>
  berth.request<{ data: { token: string } }>("POST", "/v1/auth/login", {
    body: { email, password },
    headers: { "x-forwarded-for": address }
  })

/** The statuses of so many attempts, one after the other. */
const attempts = async (count: number, email: string, password: string, address: string) => {
  const statuses: Array<number> = []
  for (let i = 0; i < count; i++) statuses.push((await logIn(email, password, address)).status)
  return statuses
}

describe("logging in", () => {
  it("is refused after 10 failures within 15 minutes, the right password too, until they are over", async () => {
    const { email, password } = await berth.signUp()
    const address = freshAddress()
    expect(await attempts(10, email, "wrong password", address)).toEqual(Array(10).fill(401))
    for (const tried of ["wrong password", password]) {
      const answer = await logIn(email, tried, address)
      expect([answer.status, answer.body]).toEqual([429, failure("RATE_LIMITED")])
      const retryAfter = Number(answer.headers.get("retry-after"))
      expect(retryAfter).toBeGreaterThan(14 * 60)
      expect(retryAfter).toBeLessThanOrEqual(15 * 60)
    }
    berth.advance(15 * minute + 1_000)
    expect((await logIn(email, password, address)).status).toBe(200)
  })

  it("counts 30 failures sent at once as it counts them one by one", async () => {
    const { email } = await berth.signUp()
    const address = freshAddress()
    const answers = await Promise.all(Array.from({ length: 30 }, () => logIn(email, "wrong password", address)))
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(401), ...Array(20).fill(429)])
    expect((await logIn(email, "wrong password", address)).status).toBe(429)
  })

  it("starts counting anew after a success", async () => {
    const { email, password } = await berth.signUp()
    const address = freshAddress()
    for (let round = 0; round < 2; round++) {
      expect(await attempts(9, email, "wrong password", address)).toEqual(Array(9).fill(401))
      expect((await logIn(email, password, address)).status).toBe(200)
    }
  })

  it("counts by address and e-mail together: another of either is free", async () => {
    const [victim, other] = [await berth.signUp(), await berth.signUp()]
    const address = freshAddress()
    await attempts(10, victim.email, "wrong password", address)
    expect((await logIn(victim.email.toUpperCase(), victim.password, address)).status).toBe(429)
    expect((await logIn(victim.email, victim.password, freshAddress())).status).toBe(200)
    expect((await logIn(other.email, other.password, address)).status).toBe(200)
  })

  it("does not tell an unknown address from a wrong password: same text, same limit, similar time", async () => {
    const { email } = await berth.signUp()
    const times: Record<string, number> = {}
    for (const tried of [email, newEmail()]) {
      const address = freshAddress()
      const started = performance.now()
      const texts = new Set<string>()
      for (let i = 0; i < 10; i++) texts.add((await logIn(tried, "wrong password", address)).text)
      times[tried === email ? "known" : "unknown"] = performance.now() - started
      expect([...texts]).toEqual([
        "{\"error\":{\"code\":\"UNAUTHORIZED\",\"message\":\"Wrong e-mail address or password\"}}"
      ])
      expect((await logIn(tried, "wrong password", address)).status).toBe(429)
    }
    // Without the same hashing for both, the unknown would be ten times as fast.
    expect((times["unknown"] ?? 0) / (times["known"] ?? 1)).toBeGreaterThan(0.4)
  })

  it("takes the address in any case, and the password to the letter", async () => {
    const { email, password } = await berth.signUp()
    expect((await logIn(email.toUpperCase(), password, freshAddress())).status).toBe(200)
    expect((await logIn(email, password.toUpperCase(), freshAddress())).status).toBe(401)
    expect((await logIn(email, `${password} `, freshAddress())).status).toBe(401)
  })

  it("stores no password that could be read, and logs none", async () => {
    const { email, password } = await berth.signUp()
    const [row] = await runSql(berth.databaseUrl, "SELECT password_hash FROM users WHERE email = $1", [email])
    expect(row?.["password_hash"]).toMatch(/^\$argon2id\$/)
    expect(berth.logged.join("\n")).not.toContain(password)
  })
})

describe("signing up", () => {
  it("with one address twice at once makes one account", async () => {
    const body = { email: newEmail(), password: "long enough" }
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => berth.request("POST", "/v1/auth/signup", { body }))
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
  })
})

describe("a session", () => {
  let account: Account
  const expiry = async () =>
    Date.parse(
      (await account.get<{ data: { credential: { expiresAt: string } } }>("/v1/auth/me")).body.data.credential
        .expiresAt
    )
  beforeAll(async () => {
    account = await berth.signUp()
  })

  it("slides: 30 days from its last use, once a day", async () => {
    const first = await expiry()
    berth.advance(day / 2)
    expect(await expiry()).toBe(first)
    berth.advance(day)
    const second = await expiry()
    expect(second - first).toBeGreaterThanOrEqual(1.5 * day)
    berth.advance(29 * day)
    expect((await account.get("/v1/auth/me")).status).toBe(200)
    expect(await expiry() - second).toBeGreaterThanOrEqual(29 * day)
  })

  it("unused for 30 days is over", async () => {
    expect((await account.get("/v1/auth/me")).status).toBe(200)
    berth.advance(30 * day + minute)
    expect((await account.get("/v1/auth/me")).status).toBe(401)
  })

  it("is one of many: logging out of one leaves the others", async () => {
    const one = await berth.signUp()
    const { token } = (await logIn(one.email, one.password, freshAddress())).body.data
    await one.request("POST", "/v1/auth/logout")
    expect((await one.get("/v1/auth/me")).status).toBe(401)
    expect((await berth.request("GET", "/v1/auth/me", { token })).status).toBe(200)
  })
})
