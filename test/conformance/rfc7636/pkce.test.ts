import { challengeProblem, verifierMatches } from "#src/oauth/checks/pkce.ts"
import { FastCheck as fc } from "effect"
import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import { useBerth } from "../../support/Berth.ts"
import { newFlow } from "../../support/oauth.ts"

const berth = useBerth()
const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
const verifiers = fc.array(fc.constantFrom(...unreserved), { minLength: 43, maxLength: 128 }).map((text) =>
  text.join("")
)
const challengeOf = (verifier: string) => createHash("sha256").update(verifier).digest("base64url")

describe("[3] RFC 7636: PKCE", () => {
  it("appendix B's example holds", () => {
    const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    expect(challengeProblem(challenge, "S256")).toBeUndefined()
    expect(verifierMatches(verifier, challenge)).toBe(true)
  })

  it("§4.1, §4.6: a verifier fits its own challenge and no other", () => {
    fc.assert(fc.property(verifiers, verifiers, (one, two) => {
      expect(challengeProblem(challengeOf(one), "S256")).toBeUndefined()
      expect(verifierMatches(one, challengeOf(one))).toBe(true)
      expect(verifierMatches(two, challengeOf(one))).toBe(one === two)
      // As the plain method would have it.
      expect(verifierMatches(challengeOf(one), challengeOf(one))).toBe(false)
    }))
  })

  it("§4.1: nothing that is no verifier fits, even when its hash does", () => {
    const others = fc.oneof(
      fc.string({ maxLength: 42 }),
      fc.string({ minLength: 129, maxLength: 200 }),
      verifiers.map((text) => `${text.slice(0, 42)}+`)
    )
    fc.assert(fc.property(others, (text) => !verifierMatches(text, challengeOf(text))))
  })

  it("§4.4.1: without a challenge, without a method, or with plain, the client is told", async () => {
    const flow = await newFlow(berth)
    const wrong = [
      { code_challenge: "" },
      { code_challenge_method: "" },
      { code_challenge_method: "plain" },
      { code_challenge: "x" }
    ]
    for (const fields of wrong) {
      const { searchParams } = await flow.authorize(fields)
      expect([searchParams.get("error"), searchParams.get("iss")], JSON.stringify(fields)).toEqual([
        "invalid_request",
        berth.url
      ])
    }
  })

  it("§4.6: a wrong verifier is invalid_grant, and does not burn the code", async () => {
    const flow = await newFlow(berth)
    const request = await flow.codeRequest()
    const wrong = await flow.token({ ...request, code_verifier: "a".repeat(43) })
    expect([wrong.status, wrong.body]).toMatchObject([400, { error: "invalid_grant" }])
    expect((await flow.token(request)).status).toBe(200)
  })
})
