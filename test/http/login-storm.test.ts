import { mostWaiting } from "#src/accounts/Passwords.ts"
import { digestOf } from "#src/shared/tokens.ts"
import { describe, expect, it } from "vitest"
import { failure } from "../contract/shapes.ts"
import { newEmail } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { freshAddress } from "../support/http.ts"
import { PlainBrowser } from "../support/pages.ts"
import { holdLock, runSql } from "../support/sql.ts"

const berth = useBerth()
const day = 24 * 60 * 60_000

const logIn = (email: string, password: string, address = freshAddress()) =>
  berth.request("POST", "/v1/auth/login", { body: { email, password }, headers: { "x-forwarded-for": address } })

/** Fails once for the account, as though it were the last of so many failures from everywhere. */
const failedBefore = async (email: string, failures: number) => {
  expect((await logIn(email, "wrong password")).status).toBe(401)
  await runSql(berth.databaseUrl, "UPDATE login_tallies SET failures = $1 WHERE account = $2", [
    failures,
    digestOf(email)
  ])
}

describe("log-ins beyond those that may wait", () => {
  it("are answered 503, over HTTP and on the page, sign-ups alike, until there is room", async () => {
    const account = await berth.signUp()
    const browser = new PlainBrowser(berth)
    await browser.go("/oauth/sign-in")
    // Whoever has a place keeps it, without any hashing.
    const release = await holdLock(berth.databaseUrl, "LOCK TABLE login_attempts", [])
    const answers = Array.from({ length: 40 }, () => logIn(newEmail(), "wrong password"))
    const first = await Promise.race(answers)
    expect([first.status, first.body]).toEqual([503, failure("SERVICE_UNAVAILABLE")])
    expect(first.headers.get("retry-after")).toBe("5")
    const signUp = await berth.request("POST", "/v1/auth/signup", {
      body: { email: newEmail(), password: "long enough" }
    })
    expect([signUp.status, signUp.headers.get("retry-after")]).toEqual([503, "5"])
    const page = await browser.submit({ email: account.email, password: account.password })
    expect([page.status, page.headers.get("retry-after")]).toEqual([503, "5"])
    expect(page.text).toContain("Too many people are logging in at this moment; try again in 5 seconds.")
    expect(page.text).toContain(`value="${account.email}"`)
    await release()
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    expect([...new Set(statuses)].sort()).toEqual([401, 503])
    expect(statuses.filter((status) => status === 401).length).toBeGreaterThan(mostWaiting)
    expect((await browser.submit({ email: account.email, password: account.password })).status).toBe(303)
  })
})

describe("after a hundred failures in a day from anywhere, an account", () => {
  it("may be tried once a minute from anywhere, unknown e-mail addresses alike", async () => {
    const { email, password } = await berth.signUp()
    for (const tried of [email, newEmail()]) {
      await failedBefore(tried, 99)
      const known = tried === email
      expect((await logIn(tried, "wrong password")).status).toBe(401)
      const refused = await logIn(tried, password)
      expect([refused.status, refused.body], String(known)).toEqual([429, failure("RATE_LIMITED")])
      const retryAfter = Number(refused.headers.get("retry-after"))
      expect(retryAfter).toBeGreaterThan(0)
      expect(retryAfter).toBeLessThanOrEqual(60)
      // What was refused counts nowhere: neither for the account nor for the address.
      const address = freshAddress()
      for (let n = 0; n < 11; n++) expect((await logIn(tried, "wrong password", address)).text).toContain(" seconds")
      berth.advance(61_000)
      expect((await logIn(tried, "wrong password", address)).status).toBe(401)
      expect((await logIn(tried, "wrong password", address)).status).toBe(429)
    }
    berth.advance(61_000)
    expect((await logIn(email, password)).status).toBe(200)
  })

  it("lets those in whose address it knows, for 30 days, under the limit of their own", async () => {
    const { email, password } = await berth.signUp()
    const home = freshAddress()
    expect((await logIn(email, password, home)).status).toBe(200)
    await failedBefore(email, 100)
    const statuses: Array<number> = []
    for (let n = 0; n < 11; n++) statuses.push((await logIn(email, "wrong password", home)).status)
    expect(statuses).toEqual([...Array(10).fill(401), 429])
    berth.advance(16 * 60_000)
    expect((await logIn(email, password, home)).status).toBe(200)
    berth.advance(30 * day + 1_000)
    await failedBefore(email, 100)
    expect((await logIn(email, password, home)).status).toBe(429)
  })

  it("lets those in where they signed up, who have not logged in yet", async () => {
    const [email, password, home] = [newEmail(), "correct horse battery", freshAddress()]
    const made = await berth.request("POST", "/v1/auth/signup", {
      body: { email, password },
      headers: { "x-forwarded-for": home }
    })
    expect(made.status).toBe(201)
    await failedBefore(email, 100)
    expect((await logIn(email, password)).status).toBe(429)
    expect((await logIn(email, password, home)).status).toBe(200)
  })

  it("is not freed by a success: others' failures stay, its own attempt is taken back", async () => {
    const { email, password } = await berth.signUp()
    await failedBefore(email, 98)
    expect((await logIn(email, password)).status).toBe(200)
    expect((await logIn(email, "wrong password")).status).toBe(401)
    expect((await logIn(email, "wrong password")).status).toBe(401)
    expect((await logIn(email, "wrong password")).status).toBe(429)
  })

  it("is tried once, by however many at once", async () => {
    const { email } = await berth.signUp()
    await failedBefore(email, 99)
    const answers = await Promise.all(Array.from({ length: 8 }, () => logIn(email, "wrong password")))
    expect(answers.map(({ status }) => status).sort()).toEqual([401, ...Array(7).fill(429)])
  })
})
