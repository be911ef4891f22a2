import { describe, expect } from "vitest"
import { newEmail } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { row } from "./row.ts"
import { failure, invalid, timestamp, ulid } from "./shapes.ts"

const berth = useBerth()
const password = "ten letters"
const session = (email: string, name: string | null = null) => ({
  data: {
    user: { id: ulid, email, name, createdAt: timestamp },
    token: expect.stringMatching(/^svc_sess_[\w-]{43}$/),
    expiresAt: timestamp
  }
})

describe("accounts", () => {
  row("POST /v1/auth/signup signs up", async () => {
    const email = newEmail()
    const answer = await berth.request<{ data: { expiresAt: string; token: string } }>("POST", "/v1/auth/signup", {
      body: { email, password, name: "Zoë" }
    })
    expect([answer.status, answer.body]).toEqual([201, session(email, "Zoë")])
    const { expiresAt, token } = answer.body.data
    const days = (Date.parse(expiresAt) - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(29.99)
    expect(days).toBeLessThanOrEqual(30)
    expect(answer.headers.getSetCookie()).toEqual([
      `svc_session=${token}; Path=/; Expires=${new Date(expiresAt).toUTCString()}; HttpOnly; SameSite=Lax`
    ])

    const again = await berth.request("POST", "/v1/auth/signup", { body: { email: email.toUpperCase(), password } })
    expect([again.status, again.body]).toEqual([409, failure("CONFLICT")])
    const bad = { email: ["x", "@", "a@", "a b@c.d", "", 7, null], password: ["nine char", "", 7, null] }
    for (const [field, values] of Object.entries(bad)) {
      for (const value of values) {
        const body = { email: newEmail(), password, [field]: value }
        const refused = await berth.request("POST", "/v1/auth/signup", { body })
        expect([refused.status, refused.body], JSON.stringify(body)).toEqual([422, invalid(field)])
      }
    }
  })

  row("POST /v1/auth/login logs in", async () => {
    const account = await berth.signUp()
    const { email } = account
    const answer = await berth.request<{ data: { token: string } }>("POST", "/v1/auth/login", {
      body: { email, password: account.password }
    })
    expect([answer.status, answer.body]).toEqual([200, session(email)])
    expect(answer.body.data.token).not.toBe(account.token)
    expect(answer.headers.getSetCookie()[0]).toContain(answer.body.data.token)
    const wrong = await berth.request("POST", "/v1/auth/login", { body: { email, password: "something else" } })
    expect([wrong.status, wrong.body]).toEqual([401, failure("UNAUTHORIZED")])
    const unknown = await berth.request("POST", "/v1/auth/login", { body: { email: newEmail(), password } })
    expect([unknown.status, unknown.text]).toEqual([401, wrong.text])
  })

  row("POST /v1/auth/logout logs out", async () => {
    const account = await berth.signUp()
    const answer = await account.request("POST", "/v1/auth/logout")
    expect([answer.status, answer.text]).toEqual([204, ""])
    expect(answer.headers.getSetCookie()[0]).toMatch(/^svc_session=; Path=\/; Expires=Thu, 01 Jan 1970/)
    expect((await account.get("/v1/auth/me")).status).toBe(401)
    expect((await account.request("POST", "/v1/auth/logout")).status).toBe(401)
  })
})
