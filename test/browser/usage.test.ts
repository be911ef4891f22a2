import { type Page } from "playwright-core"
import { beforeAll, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { describeWhen, missingProgram } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"
import { useChromium } from "./chromium.ts"
import { expectGoodLooks, looks } from "./looks.ts"

const password = "correct horse battery"

describeWhen(missingProgram("chromium"), "the page of an account's usage in Chromium", () => {
  const berth = useBerth()
  const visit = useChromium()
  let owner: Account
  let today = ""

  beforeAll(async () => {
    owner = await berth.signUp("developer")
    const project = await owner.project()
    for (const region of ["ord", "syd", "ams"]) await owner.server(project.id, { region, autoStopSeconds: null })
    today = new Date(berth.now()).toISOString().slice(0, 10)
    // A wave on a slope, in this month and the one before. Today: 1,234 requests, 5,678 s, 9.9 MB.
    await runSql(
      berth.databaseUrl,
      `INSERT INTO usage_days (account_id, day, request_count, compute_milliseconds, bandwidth_bytes)
       SELECT $1, d, CASE WHEN d = $2::date THEN 1234 ELSE 200 + (100 * sin(extract(day FROM d)))::int END,
         CASE WHEN d = $2::date THEN 5678000 ELSE (3000 + 2000 * cos(extract(day FROM d)))::bigint * 1000 END,
         CASE WHEN d = $2::date THEN 9900000 ELSE (5e6 + 4e6 * sin(extract(day FROM d) / 3))::bigint END
       FROM generate_series(date_trunc('month', $2::date) - interval '1 month', $2::date, interval '1 day') AS days(d)`,
      [owner.id, today]
    )
    await runSql(
      berth.databaseUrl,
      `INSERT INTO usage SELECT account_id, date_trunc('month', day::timestamp) AT TIME ZONE 'UTC', sum(request_count), sum(compute_milliseconds),
         sum(bandwidth_bytes) FROM usage_days WHERE account_id = $1 GROUP BY 1, 2`,
      [owner.id]
    )
    await runSql(berth.databaseUrl, "UPDATE users SET plan = 'free' WHERE id = $1", [owner.id])
  })

  const signIn = async (page: Page, { email } = owner) => {
    await page.goto(`${berth.url}/billing/usage`)
    await page.getByLabel("E-mail address").fill(email)
    await page.getByLabel("Password").fill(password)
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("heading", { level: 1, name: /^Usage in / }).waitFor()
  }

  it("a sign-in leads back to it; it tells the days as pictures and as a table, and what is over", async () => {
    const { complaints, page } = await visit()
    await signIn(page)
    expect(await page.locator("nav[aria-label=Account] [aria-current=page]").innerText()).toBe("Usage")
    const titles = [
      "Requests of the period, added up by day",
      "Requests by day",
      "Compute seconds by day",
      "Bytes of requests and answers by day"
    ]
    for (const name of titles) await page.getByRole("img", { name }).waitFor()
    expect(await page.locator(".limit").count()).toBe(1)
    await page.getByRole("heading", { name: "More than the free plan allows" }).waitFor()
    const limits = page.getByRole("table", { name: "Limits of the plan" })
    expect(await limits.getByText("Over the limit").count()).toBe(3)
    await limits.getByRole("row", { name: "Servers Over the limit 3 2", exact: true }).waitFor()
    await limits.getByRole("row", { name: "Servers that never stop when idle Over the limit 3 None" }).waitFor()
    await page.getByText("You are on the free plan, which costs nothing.").waitFor()
    await page.getByText("Each day in numbers").press("Enter")
    const first = page.locator("details tbody tr").first().locator("td")
    expect(await first.allInnerTexts()).toEqual(["1,234", "5,678 s", "9.9 MB"])
    expect(await page.locator("details tbody tr").count()).toBe(Number(today.slice(8)))
    await page.locator("nav[aria-label=Month] a").nth(1).press("Enter")
    await page.waitForURL("**?month=*")
    expect(await page.locator("nav[aria-label=Month] [aria-current=page]").count()).toBe(1)
    await page.locator("nav[aria-label=Account]").getByText("Your listings").press("Enter")
    await page.getByRole("heading", { level: 1, name: "Your listings" }).waitFor()
    expect(complaints).toEqual([])
  })

  it("tells what is used up and until when, by what right the plan is there, and no rows that can't be over", async () => {
    const granted = await berth.signUp("developer")
    await runSql(
      berth.databaseUrl,
      `INSERT INTO usage (account_id, period, request_count)
       VALUES ($1, date_trunc('month', $2::timestamp) AT TIME ZONE 'UTC', 100000)`,
      [granted.id, today]
    )
    const { page } = await visit({ javaScriptEnabled: true })
    await signIn(page, granted)
    const note = page.getByRole("region", { name: "The requests of the period are used up" })
    expect(await note.innerText()).toMatch(
      /100,000 requests a month\. Until .* UTC .* The pro plan \(99 USD a month\)/s
    )
    const limits = page.getByRole("table", { name: "Limits of the plan" })
    await limits.getByRole("row", { name: "Requests in the current period Used up 100,000 100,000" }).waitFor()
    expect(await limits.getByText(/region|never stop/).count()).toBe(0)
    await page.getByText("which the operator of this installation granted: nothing is charged for it.").waitFor()
    // Its period is the calendar month, which has no second entry.
    expect(await page.locator("nav[aria-label=Month] a").count()).toBe(3)
    await expectGoodLooks(page, "usage-used-up")
  })

  it("what is no month is refused, and an account without usage has empty days", async () => {
    const { page } = await visit()
    await signIn(page)
    const answer = await page.goto(`${berth.url}/billing/usage?month=x`)
    expect(answer?.status()).toBe(400)
    await page.goto(`${berth.url}/billing/usage?month=2020-02`)
    expect(await page.locator("figcaption").getByText("None in these days.").count()).toBe(3)
    expect(await page.getByRole("img").count(), "no empty pictures").toBe(0)
    await page.goto(`${berth.url}/billing/usage?month=2999-02`)
    await page.getByText("This month has not begun.").waitFor()
  })

  for (const { colorScheme, look, viewport } of looks) {
    it(`${look}: nothing scrolls sideways, and axe finds no fault`, { timeout: 60_000 }, async () => {
      const { page } = await visit({ viewport, colorScheme, javaScriptEnabled: true })
      await signIn(page)
      await page.getByText("Each day in numbers").click()
      await expectGoodLooks(page, `usage-${look}`)
    })
  }
})
