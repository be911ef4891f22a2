import { describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { businesses, newBusiness } from "../support/business.ts"
import { itLong } from "../support/needs.ts"
import { freshNumber, useSmsGateway } from "../support/sms.ts"
import { runSql } from "../support/sql.ts"

const hour = 60 * 60_000

const sms = await useSmsGateway()
const berth = useBerth({ variables: { SMS_URL: sms.url, SMS_DAILY_LIMIT: "40", SMS_COUNTRIES: "+1, +44" } })

/** A business of the account, with that number. */
const withPhone = async (owner: Account, phone: string) => {
  const { id } = await newBusiness(owner)
  await owner.patch(`${businesses}/${id}`, { contact: { phone } })
  return id
}
const send = (owner: Account, id: string) => owner.request("POST", `${businesses}/${id}/verification/phone`)
const confirm = (owner: Account, id: string, code: string) =>
  owner.request("POST", `${businesses}/${id}/verification/phone/confirm`, { body: { code } })

/** A code for another new business of the account, with that number. */
const sendTo = async (owner: Account, phone: string) => send(owner, await withPhone(owner, phone))

const refusedBy = (limit: string, allowed: number) => ({
  status: 429,
  body: {
    error: {
      code: "rate_limited",
      message: expect.stringMatching(/; ask for another in \d+ (hours|minutes)$/),
      details: { limit, allowed }
    }
  }
})

const seconds = (answer: { readonly headers: Headers }) => Number(answer.headers.get("retry-after"))

describe("in a day, text messages", () => {
  it("go to one number three times, whatever business and account they are for, and however it is spelt", async () => {
    const [one, two] = [await berth.signUp("pro"), await berth.signUp("pro")]
    const number = "+15559000001"
    expect((await sendTo(one, number)).status).toBe(200)
    berth.advance(hour)
    expect((await sendTo(two, "+1 (555) 900-0001")).status).toBe(200)
    expect((await sendTo(two, number)).status).toBe(200)
    const sent = sms.messages.length
    const refused = await sendTo(one, number)
    expect(refused).toMatchObject(refusedBy("number", 3))
    expect(seconds(refused)).toBeGreaterThan(22.9 * 3600)
    expect(seconds(refused)).toBeLessThanOrEqual(23 * 3600)
    expect(sms.messages.length).toBe(sent)
    berth.advance(23 * hour)
    expect((await sendTo(one, number)).status).toBe(200)
    expect(await sendTo(one, number)).toMatchObject(refusedBy("number", 3))
  })

  itLong("of which two are asked for at once take the last place once", async () => {
    const number = freshNumber()
    const owners = await Promise.all([0, 1, 2, 3, 4].map(() => berth.signUp("pro")))
    const ids = await Promise.all(owners.map((owner) => withPhone(owner, number)))
    const answers = await Promise.all(owners.map((owner, at) => send(owner, ids[at]!)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429])
    expect(sms.messages.filter(({ form }) => form["To"] === number)).toHaveLength(3)
  })

  it("are sent ten times for one account, whatever the numbers", async () => {
    const owner = await berth.signUp("pro")
    const statuses: Array<number> = []
    for (let n = 0; n < 10; n++) statuses.push((await sendTo(owner, freshNumber())).status)
    expect(statuses).toEqual(Array(10).fill(200))
    expect(await sendTo(owner, freshNumber())).toMatchObject(refusedBy("account", 10))
    expect((await sendTo(await berth.signUp("pro"), freshNumber())).status).toBe(200)
  })

  itLong("that the gateway refused do not count, but can't be tried without an end", async () => {
    const owner = await berth.signUp("pro")
    const number = freshNumber()
    await sms.answering(400, async () => {
      for (let n = 0; n < 3; n++) expect((await sendTo(owner, number)).status).toBe(503)
    })
    for (let n = 0; n < 3; n++) expect((await sendTo(owner, number)).status).toBe(200)
    expect(await sendTo(owner, number)).toMatchObject(refusedBy("number", 3))
    const other = freshNumber()
    const sent = sms.messages.length
    await sms.answering(400, async () => {
      for (let n = 0; n < 6; n++) expect((await sendTo(await berth.signUp("pro"), other)).status).toBe(503)
      expect(await sendTo(await berth.signUp("pro"), other)).toMatchObject(refusedBy("number", 3))
    })
    expect(sms.messages.length).toBe(sent + 6)
  })

  it("count where nobody knows whether they went out", async () => {
    const owner = await berth.signUp("pro")
    const number = freshNumber()
    await sms.answering("nothing", async () => {
      for (let n = 0; n < 3; n++) expect((await sendTo(owner, number)).status).toBe(503)
    })
    expect(await sendTo(owner, number)).toMatchObject(refusedBy("number", 3))
  })

  it("go out as often as the operator allows, for all accounts together", async () => {
    berth.advance(25 * hour)
    const owner = await berth.signUp("pro")
    const id = await withPhone(owner, freshNumber())
    await runSql(
      berth.databaseUrl,
      "INSERT INTO sms_messages (phone, account_id, sent_at) SELECT 'p' || n, 'a' || n, $1 FROM generate_series(1, 39) n",
      [new Date(Date.now() + 49 * hour)]
    )
    expect((await send(owner, id)).status).toBe(200)
    expect(await sendTo(await berth.signUp("pro"), freshNumber())).toMatchObject(refusedBy("platform", 40))
  })
})

describe("codes of one number", () => {
  it("share their five tries, tried one after the other or at once", async () => {
    berth.advance(25 * hour)
    const [one, two] = [await berth.signUp("pro"), await berth.signUp("pro")]
    const number = freshNumber()
    const ids = { one: await withPhone(one, number), two: await withPhone(two, number) }
    await send(one, ids.one)
    const code = sms.lastCode()
    await send(two, ids.two)
    const wrong = code === "000000" ? "111111" : "000000"
    expect(await confirm(one, ids.one, wrong)).toMatchObject({
      status: 422,
      body: { error: { message: "is wrong; 4 tries are left" } }
    })
    await Promise.all(
      Array.from({ length: 6 }, (_, n) => n % 2 === 0 ? confirm(one, ids.one, wrong) : confirm(two, ids.two, wrong))
    )
    const last = await confirm(one, ids.one, code)
    expect([last.status, last.text]).toEqual([422, expect.stringContaining("was tried 5 times; ask for a new one")])
    // A new code has five tries of its own.
    berth.advance(2 * 60_000)
    expect((await send(one, ids.one)).status).toBe(200)
    expect((await confirm(one, ids.one, sms.lastCode())).status).toBe(200)
  })
})

describe("a number of another country than the operator serves", () => {
  it("is sent nothing, and told which are served", async () => {
    berth.advance(25 * hour)
    const owner = await berth.signUp("pro")
    const sent = sms.messages.length
    const refused = await sendTo(owner, "+79161234567")
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining("begin with +1, +44")])
    expect(sms.messages.length).toBe(sent)
    expect((await sendTo(owner, "+442071838750")).status).toBe(200)
  })
})
