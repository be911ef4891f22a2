import { describe, expect, it } from "vitest"
import { newEmail } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { freshAddress } from "../support/http.ts"
import { PlainBrowser } from "../support/pages.ts"

const berth = useBerth({ variables: { SIGN_UPS_PER_HOUR: "2" } })
const password = "correct horse battery"

const signUp = (address: string) =>
  berth.request("POST", "/v1/auth/signup", {
    body: { email: newEmail(), password },
    headers: { "x-forwarded-for": address }
  })

describe("an address from which an hour's accounts were made", () => {
  it("makes no other until the hour is over, and others do", async () => {
    const address = freshAddress()
    const answers = await Promise.all([0, 1, 2, 3].map(() => signUp(address)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 429, 429])
    const refused = await signUp(address)
    expect(refused).toMatchObject({
      status: 429,
      body: {
        error: {
          code: "RATE_LIMITED",
          message: expect.stringMatching(/^Too many accounts were made from your address .* try again in 60 minutes$/)
        }
      }
    })
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3500)
    expect((await signUp(freshAddress())).status).toBe(201)
    berth.advance(60 * 60_000)
    expect((await signUp(address)).status).toBe(201)
  })

  it("is one network of IPv6, whichever address in it asks", async () => {
    const statuses: Array<number> = []
    for (const last of ["1", "2", "3"]) statuses.push((await signUp(`2001:db8:5:6::${last}`)).status)
    expect([...statuses, (await signUp("2001:db8:5:7::1")).status]).toEqual([201, 201, 429, 201])
  })

  it("is the same when it is written as one of IPv6, and another then is another", async () => {
    const statuses: Array<number> = []
    for (const form of ["", "::ffff:", "::FFFF:"]) statuses.push((await signUp(`${form}198.51.100.7`)).status)
    expect([...statuses, (await signUp("::ffff:198.51.100.8")).status]).toEqual([201, 201, 429, 201])
  })

  it("is refused by the page, too", async () => {
    const browser = new PlainBrowser(berth)
    const statuses: Array<number> = []
    for (let n = 0; n < 3; n++) {
      await browser.go("/oauth/sign-up")
      const answer = await browser.submit({ email: newEmail(), password })
      statuses.push(answer.status)
      if (answer.status === 429) expect(answer.text).toContain("Too many accounts were made from your address")
    }
    expect(statuses).toEqual([303, 303, 429])
  })
})
