import { levelOf } from "#src/businesses/verification-level.ts"
import { beforeEach, describe, expect, it } from "vitest"
import { type Account, dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Business, businesses, newBusiness } from "../support/business.ts"
import { freshNumber, useSmsGateway } from "../support/sms.ts"
import { runSql } from "../support/sql.ts"

const minute = 60_000
const day = 24 * 60 * minute

const sms = await useSmsGateway()
const berth = useBerth({ variables: { SMS_URL: sms.url } })
let owner: Account
// An account has ten codes a day.
beforeEach(async () => {
  owner = await berth.signUp("pro")
})

const withPhone = async (phone = freshNumber()) => {
  const { id } = await newBusiness(owner)
  await owner.patch(`${businesses}/${id}`, { contact: { phone } })
  return id
}
const send = (id: string) => owner.request("POST", `${businesses}/${id}/verification/phone`)
const confirm = (id: string, code: string) =>
  owner.request<{ data: Business }>("POST", `${businesses}/${id}/verification/phone/confirm`, { body: { code } })
const review = (id: string) => owner.request<{ data: Business }>("POST", `${businesses}/${id}/verification/review`)
const wrong = (code: string) => (code === "000000" ? "111111" : "000000")
const levelNow = async (id: string) =>
  dataOf(await owner.get<{ data: Business }>(`${businesses}/${id}`)).verificationLevel

describe("the code of a telephone number", () => {
  it("is sent by the gateway, stored as a hash, and confirms the number once", async () => {
    const id = await withPhone("+1 (555) 010-0123")
    const sent = await send(id)
    expect(sent).toMatchObject({ status: 200, body: { data: { phone: "+• (•••) •••-••23" } } })
    expect(sms.messages.at(-1)).toMatchObject({
      authorization: `Basic ${Buffer.from("AC1:s@cret").toString("base64")}`,
      form: {
        To: "+15550100123",
        From: "+15550001",
        Body: expect.stringMatching(/^\d{6} is your verification code/) as string
      }
    })
    const code = sms.lastCode()
    const rows = await runSql(
      berth.databaseUrl,
      "SELECT code_hash::text AS hash FROM phone_codes WHERE business_id = $1",
      [id]
    )
    expect(JSON.stringify(rows)).not.toContain(code)
    expect((await confirm(id, code)).body.data.verificationLevel).toBe("phone_verified")
    expect((await confirm(id, code)).status).toBe(422)
    expect(berth.logged.join("\n")).not.toContain(`${code} is your`)
  })

  it("is refused after five wrong tries, the right one too", async () => {
    const id = await withPhone()
    await send(id)
    const code = sms.lastCode()
    for (let left = 4; left >= 0; left--) {
      expect(await confirm(id, wrong(code))).toMatchObject({
        status: 422,
        body: {
          error: {
            code: "validation_error",
            message: `is wrong; ${left === 1 ? "1 try is" : `${left} tries are`} left`
          }
        }
      })
    }
    expect((await confirm(id, code)).status).toBe(422)
    expect(await levelNow(id)).toBe("unverified")
  })

  it("counts wrong tries sent at once as it counts them one by one", async () => {
    const id = await withPhone()
    await send(id)
    const code = sms.lastCode()
    await Promise.all(Array.from({ length: 12 }, () => confirm(id, wrong(code))))
    expect((await confirm(id, code)).status).toBe(422)
  })

  it("is good for ten minutes, and for the number it was sent to", async () => {
    const [late, moved] = [await withPhone(), await withPhone()]
    await send(late)
    const lateCode = sms.lastCode()
    await send(moved)
    const movedCode = sms.lastCode()
    await owner.patch(`${businesses}/${moved}`, { contact: { phone: "+15550109999" } })
    expect((await confirm(moved, movedCode)).status).toBe(422)
    berth.advance(10 * minute + 1_000)
    expect((await confirm(late, lateCode)).status).toBe(422)
    await send(late)
    expect((await confirm(late, sms.lastCode())).status).toBe(200)
  })

  it("is sent once a minute, and only to an international number", async () => {
    const id = await withPhone()
    await send(id)
    const again = await send(id)
    expect([again.status, again.body]).toMatchObject([429, { error: { code: "rate_limited" } }])
    expect(Number(again.headers.get("retry-after"))).toBeGreaterThan(50)
    expect((await send(await withPhone("555 0100"))).status).toBe(409)
  })

  it("that could not be sent is 503, and may be asked for again at once", async () => {
    const id = await withPhone()
    const answer = await sms.answering(500, () => send(id))
    expect([answer.status, answer.body]).toMatchObject([503, { error: { code: "service_unavailable" } }])
    expect((await send(id)).status).toBe(200)
    expect((await confirm(id, sms.lastCode())).status).toBe(200)
    expect((await send(id)).status).toBe(200)
    expect((await send(id)).status).toBe(429)
  })
})

describe("the level of a business", () => {
  it("rises with the account's age and with a review, and falls with the number", async () => {
    const id = await withPhone()
    await send(id)
    await confirm(id, sms.lastCode())
    expect(await levelNow(id)).toBe("phone_verified")
    expect(await review(id)).toMatchObject({ status: 409, body: { error: { code: "conflict" } } })
    berth.advance(20 * day)
    await owner.get("/v1/auth/me")
    berth.advance(11 * day)
    expect(await levelNow(id)).toBe("business_verified")
    const listed = await owner.get<{ data: ReadonlyArray<Business> }>(businesses)
    expect(listed.body.data.find((business) => business.id === id)?.verificationLevel).toBe("business_verified")
    expect((await review(id)).body.data.verificationLevel).toBe("business_verified")
    expect((await review(id)).status).toBe(200)
    await runSql(berth.databaseUrl, "UPDATE businesses SET premium_granted_at = now() WHERE id = $1", [id])
    await owner.patch(`${businesses}/${id}`, { description: "Reviewed" })
    expect(await levelNow(id)).toBe("premium_verified")
    await owner.patch(`${businesses}/${id}`, { contact: { phone: "+15550107777" } })
    expect(await levelNow(id)).toBe("unverified")
  })

  it("stays with the number in another spelling, and a code is good for any spelling", async () => {
    const id = await withPhone("+15550108888")
    await send(id)
    await owner.patch(`${businesses}/${id}`, { contact: { phone: "+1 (555) 010-8888" } })
    expect((await confirm(id, sms.lastCode())).status).toBe(200)
    const verified = await levelNow(id)
    await owner.patch(`${businesses}/${id}`, { contact: { phone: "+1.555.010.8888" } })
    expect(await levelNow(id)).toBe(verified)
    expect(verified).not.toBe("unverified")
  })

  it("is premium again after a change of number only when that was reviewed too", async () => {
    const id = await withPhone()
    const toLevel = async (phone: string) => {
      await owner.patch(`${businesses}/${id}`, { contact: { phone } })
      berth.advance(2 * minute)
      await send(id)
      await confirm(id, sms.lastCode())
      return levelNow(id)
    }
    expect(await toLevel("+15550101111")).toBe("business_verified")
    expect((await review(id)).status).toBe(200)
    await runSql(berth.databaseUrl, "UPDATE businesses SET premium_granted_at = now() WHERE id = $1", [id])
    expect(await toLevel("+1 555 010 1111")).toBe("premium_verified")
    expect(await toLevel("+15550102222")).toBe("business_verified")
    expect(await toLevel("+15550101111")).toBe("business_verified")
    const waiting = "SELECT id FROM businesses WHERE id = $1 AND review_requested_at IS NOT NULL"
    expect(await runSql(berth.databaseUrl, waiting, [id])).toEqual([])
    expect((await review(id)).status).toBe(200)
    expect(await runSql(berth.databaseUrl, waiting, [id])).toHaveLength(1)
  })

  it("is never more than its conditions: each level asks for the one before", () => {
    const now = new Date("2026-06-01T00:00:00Z")
    const before = (days: number) => new Date(now.getTime() - days * day)
    const old = {
      phone: "1",
      verifiedPhone: "1",
      phoneVerifiedAt: now,
      premiumGrantedAt: now,
      accountCreatedAt: before(30)
    }
    expect(levelOf(old, now)).toBe("premium_verified")
    expect(levelOf({ ...old, premiumGrantedAt: null }, now)).toBe("business_verified")
    expect(levelOf({ ...old, accountCreatedAt: before(29.99) }, now)).toBe("phone_verified")
    expect(levelOf({ ...old, phoneVerifiedAt: null }, now)).toBe("unverified")
    expect(levelOf({ ...old, phone: "2" }, now)).toBe("unverified")
    expect(levelOf({ ...old, phone: "", verifiedPhone: "" }, now)).toBe("unverified")
  })
})
