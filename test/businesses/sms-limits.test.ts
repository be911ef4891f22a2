import { beforeEach, describe, expect, it } from "vitest"
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

/** An account that was made so many milliseconds ago. */
const accountOfAge = async (age: number) => {
  const owner = await berth.signUp("pro")
  const createdAt = new Date(berth.now() - age)
  await runSql(berth.databaseUrl, "UPDATE users SET created_at = $2 WHERE id = $1", [owner.id, createdAt])
  return owner
}
const newAccount = () => accountOfAge(hour)
const oldAccount = () => accountOfAge(25 * hour)

const refusedBy = (limit: string, allowed: number, message = "") => ({
  status: 429,
  body: {
    error: {
      code: "rate_limited",
      message: expect.stringMatching(new RegExp(`${message}; ask for another in \\d+ (hours|minutes)$`)),
      details: { limit, allowed }
    }
  }
})

const seconds = (answer: { readonly headers: Headers }) => Number(answer.headers.get("retry-after"))

/** Puts messages of accounts that do not exist among those of the last day. */
const sentBefore = (count: number, { isNew, phone = null }: { isNew: boolean; phone?: string | null }) =>
  runSql(
    berth.databaseUrl,
    `INSERT INTO sms_messages (phone, account_id, is_new_account, sent_at)
     SELECT coalesce($2, 'p' || n), 'a' || n, $3, $4 FROM generate_series(1, $1::int) n`,
    [count, phone, isNew, new Date(berth.now() - hour)]
  )

describe("in a day, text messages", () => {
  beforeEach(() => runSql(berth.databaseUrl, "DELETE FROM sms_messages"))

  it("of one account go to one number three times, whatever business they are for and however it is spelt", async () => {
    const owner = await oldAccount()
    const number = "+15559000001"
    expect((await sendTo(owner, number)).status).toBe(200)
    berth.advance(hour)
    expect((await sendTo(owner, "+1 (555) 900-0001")).status).toBe(200)
    expect((await sendTo(owner, number)).status).toBe(200)
    const sent = sms.messages.length
    const refused = await sendTo(owner, number)
    expect(refused).toMatchObject(refusedBy("number", 3, "for one account"))
    expect(seconds(refused)).toBeGreaterThan(22.9 * 3600)
    expect(seconds(refused)).toBeLessThanOrEqual(23 * 3600)
    expect(sms.messages.length).toBe(sent)
    // A stranger's codes are not the owner's.
    expect((await sendTo(await oldAccount(), number)).status).toBe(200)
    berth.advance(23 * hour)
    expect((await sendTo(owner, number)).status).toBe(200)
    expect(await sendTo(owner, number)).toMatchObject(refusedBy("number", 3))
  })

  it("go to one number nine times for all accounts, six of them at most for accounts in their first day", async () => {
    const number = freshNumber()
    await sentBefore(5, { isNew: true, phone: number })
    expect((await sendTo(await newAccount(), number)).status).toBe(200)
    expect(await sendTo(await newAccount(), number)).toMatchObject(refusedBy("number", 6, "for new accounts"))
    for (let n = 0; n < 3; n++) expect((await sendTo(await oldAccount(), number)).status).toBe(200)
    expect(await sendTo(await oldAccount(), number)).toMatchObject(refusedBy("number", 9, "for all accounts"))
  })

  itLong("of which more are asked for at once than a number has left take the last place once", async () => {
    const number = freshNumber()
    await sentBefore(6, { isNew: false, phone: number })
    const owners = await Promise.all([0, 1, 2, 3, 4].map(() => oldAccount()))
    const ids = await Promise.all(owners.map((owner) => withPhone(owner, number)))
    const answers = await Promise.all(owners.map((owner, at) => send(owner, ids[at]!)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429])
    expect(sms.messages.filter(({ form }) => form["To"] === number)).toHaveLength(3)
  })

  it("are sent ten times for one account, and three times in its first day, whatever the numbers", async () => {
    const owner = await newAccount()
    const statuses: Array<number> = []
    for (let n = 0; n < 3; n++) statuses.push((await sendTo(owner, freshNumber())).status)
    const refused = await sendTo(owner, freshNumber())
    expect(refused).toMatchObject(refusedBy("account", 3, "in its first day"))
    // Its first day ends before the first code is a day old.
    expect(seconds(refused)).toBeLessThanOrEqual(23 * 3600)
    berth.advance(23 * hour + 60_000)
    for (let n = 0; n < 7; n++) statuses.push((await sendTo(owner, freshNumber())).status)
    expect(statuses).toEqual(Array(10).fill(200))
    expect(await sendTo(owner, freshNumber())).toMatchObject(refusedBy("account", 10))
    expect((await sendTo(await newAccount(), freshNumber())).status).toBe(200)
  })

  itLong("that the gateway refused do not count, but can't be tried without an end", async () => {
    const owner = await oldAccount()
    const number = freshNumber()
    await sms.answering(400, async () => {
      for (let n = 0; n < 3; n++) expect((await sendTo(owner, number)).status).toBe(503)
    })
    for (let n = 0; n < 3; n++) expect((await sendTo(owner, number)).status).toBe(200)
    expect(await sendTo(owner, number)).toMatchObject(refusedBy("number", 3))
    const other = freshNumber()
    const sent = sms.messages.length
    await sms.answering(400, async () => {
      for (let n = 0; n < 6; n++) expect((await sendTo(owner, other)).status).toBe(503)
      expect(await sendTo(owner, other)).toMatchObject(refusedBy("number", 3))
    })
    expect(sms.messages.length).toBe(sent + 6)
  })

  it("count where nobody knows whether they went out", async () => {
    const owner = await oldAccount()
    const number = freshNumber()
    await sms.answering("nothing", async () => {
      for (let n = 0; n < 3; n++) expect((await sendTo(owner, number)).status).toBe(503)
    })
    expect(await sendTo(owner, number)).toMatchObject(refusedBy("number", 3))
  })

  it("go out as often as the operator allows, for all accounts together", async () => {
    await sentBefore(39, { isNew: false })
    expect((await sendTo(await oldAccount(), freshNumber())).status).toBe(200)
    expect(await sendTo(await oldAccount(), freshNumber())).toMatchObject(refusedBy("platform", 40))
  })

  it("of accounts in their first day are half of what the operator allows; the log warns once", async () => {
    berth.advance(25 * hour)
    berth.logged.length = 0
    await sentBefore(18, { isNew: true })
    const warnings = () => berth.logged.filter((line) => line.includes("SMS_DAILY_LIMIT"))
    expect((await sendTo(await newAccount(), freshNumber())).status).toBe(200)
    expect(warnings()).toEqual([])
    expect((await sendTo(await newAccount(), freshNumber())).status).toBe(200)
    expect(await sendTo(await newAccount(), freshNumber())).toMatchObject(
      refusedBy("platform", 20, "for new accounts .*")
    )
    for (let n = 0; n < 3; n++) expect((await sendTo(await oldAccount(), freshNumber())).status).toBe(200)
    expect(warnings()).toEqual([expect.stringContaining("20 of the 40 text messages")])
  })
})

describe("an account's codes for one number", () => {
  it("share their five tries, tried one after the other or at once, and leave those of other accounts", async () => {
    berth.advance(25 * hour)
    const [owner, stranger] = [await berth.signUp("pro"), await berth.signUp("pro")]
    const number = freshNumber()
    const ids = { one: await withPhone(owner, number), two: await withPhone(owner, number) }
    const strange = await withPhone(stranger, number)
    await send(owner, ids.one)
    const code = sms.lastCode()
    await send(owner, ids.two)
    await send(stranger, strange)
    const strangeCode = sms.lastCode()
    const wrong = [code, strangeCode].includes("000000") ? "111111" : "000000"
    expect(await confirm(owner, ids.one, wrong)).toMatchObject({
      status: 422,
      body: { error: { message: "is wrong; 4 tries are left" } }
    })
    await Promise.all(
      Array.from({ length: 6 }, (_, n) => confirm(owner, n % 2 === 0 ? ids.one : ids.two, wrong))
    )
    const last = await confirm(owner, ids.one, code)
    expect([last.status, last.text]).toEqual([422, expect.stringContaining("was tried 5 times; ask for a new one")])
    expect((await confirm(stranger, strange, strangeCode)).status).toBe(200)
    // A new code has five tries of its own.
    berth.advance(2 * 60_000)
    expect((await send(owner, ids.one)).status).toBe(200)
    expect((await confirm(owner, ids.one, sms.lastCode())).status).toBe(200)
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
