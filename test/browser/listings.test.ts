import { type Page } from "playwright-core"
import { beforeAll, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { newBusiness } from "../support/business.ts"
import { describeWhen, missingProgram } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"
import { useChromium } from "./chromium.ts"
import { expectGoodLooks, looks } from "./looks.ts"

const password = "correct horse battery"
const name = "Rosa's <b>Bakery</b> & Café \u202e of the very long name in the old town of Denver by the river"
const shownAs = "Rosa's <b>Bakery</b> & Café of the very long name in the ol…"

describeWhen(missingProgram("chromium"), "the owner's pages in Chromium", () => {
  const berth = useBerth()
  const visit = useChromium()
  let owner: Account
  let listingId = ""

  beforeAll(async () => {
    owner = await berth.signUp("enterprise")
    const business = await newBusiness(owner, { name, industry: "bakery" })
    listingId = business.listingId
    await owner.patch(`/api/v1/ready/businesses/${business.id}`, {
      contact: { address: { city: "Denver", state: "CO" } }
    })
    const today = new Date(berth.now()).toISOString().slice(0, 10)
    // A slope with a wave on it for views; fewer clicks; now and then a transaction. Today: 1200, 80 and 3.
    await runSql(
      berth.databaseUrl,
      `INSERT INTO listing_events (listing_id, day, kind, n)
       SELECT $1, $2::date - d, kind, n FROM generate_series(0, 89) d, LATERAL (VALUES
         ('view', CASE WHEN d = 0 THEN 1200 ELSE 400 + (90 - d) * 6 + (200 * sin(d))::int END),
         ('click', CASE WHEN d = 0 THEN 80 ELSE 30 + (20 * sin(d * 2))::int END),
         ('transaction', CASE WHEN d % 7 = 0 THEN 3 ELSE 0 END)) AS e(kind, n) WHERE n > 0`,
      [listingId, today]
    )
    await runSql(
      berth.databaseUrl,
      `INSERT INTO unmet_searches (day, city, state, square, words, category, kind, verification, n) VALUES
         ($1, 'denver', 'co', -1, 'gluten free birthday cake', '', '', 0, 41),
         ($1, 'denver', '', -1, '<script>alert(1)</script>', '', 'bakery', 3, 7),
         ($1, '', '', -1, '', '', 'bakery', 0, 2), ($1, 'fort collins', 'co', -1, 'rye', '', 'bakery', 0, 1)`,
      [today]
    )
  })

  const signIn = async (page: Page) => {
    await page.goto(`${berth.url}/hub/listings`)
    await page.getByLabel("E-mail address").fill(owner.email)
    await page.getByLabel("Password").fill(password)
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("heading", { level: 1 }).waitFor()
  }

  it("an owner finds the numbers by keyboard alone, without scripts, as pictures and as a table", async () => {
    const { complaints, page } = await visit()
    await signIn(page)
    await page.getByRole("link", { name: "Your listings" }).press("Enter")
    await page.getByRole("link", { name: shownAs }).press("Enter")
    await page.getByRole("heading", { level: 1, name: shownAs }).waitFor()
    expect(await page.title()).toBe(`${shownAs}: the last 30 days – Berth`)
    for (const title of ["Views", "Clicks", "Conversions"]) {
      await page.getByRole("img", { name: `${title} by day` }).waitFor()
    }
    await page.getByRole("link", { name: "7 days" }).press("Enter")
    await page.waitForURL("**?period=7d")
    expect(await page.locator("nav [aria-current=page]").innerText()).toBe("7 days")
    const day = page.getByRole("cell", { name: "1,200" })
    expect(await day.isVisible()).toBe(false)
    await page.getByText("Each day in numbers").press("Enter")
    await day.waitFor()
    expect(await page.locator("details tbody tr").count()).toBe(7)
    expect(await page.locator("details tbody tr").first().locator("td").allInnerTexts()).toEqual(["1,200", "80", "3"])
    expect(await page.locator("svg").first().locator("rect").count()).toBe(7)
    const asked = page.getByRole("table", { name: "What agents asked for and did not find" })
    expect(await asked.locator("tbody tr").count()).toBe(4)
    await asked.getByText("gluten free birthday cake").waitFor()
    await asked.getByText("<script>alert(1)</script>").waitFor()
    expect(complaints).toEqual([])
  })

  it("shows what the listing's tier has, as the API does; and nobody else anything", async () => {
    const { page } = await visit()
    await signIn(page)
    for (const [tier, charts] of [["basic", 1], ["featured", 2], ["premium", 3]] as const) {
      await runSql(berth.databaseUrl, "UPDATE listings SET tier = $2 WHERE id = $1", [listingId, tier])
      await page.goto(`${berth.url}/hub/listings/${listingId}`)
      expect(await page.getByRole("img").count(), tier).toBe(charts)
      expect(await page.getByText("The tier follows your plan").count()).toBe(tier === "premium" ? 0 : 1)
      const { body } = await owner.get<{ readonly data: object }>(`/api/v1/hub/analytics/listings/${listingId}`)
      // Tier and period are no numbers.
      expect(await page.locator("dl.facts dt").count()).toBe(Object.keys(body.data).length - 2)
    }
    const stranger = await visit()
    const other = await berth.signUp()
    await stranger.page.goto(`${berth.url}/hub/listings/${listingId}`)
    await stranger.page.getByLabel("E-mail address").fill(other.email)
    await stranger.page.getByLabel("Password").fill(password)
    await stranger.page.getByRole("button", { name: "Sign in" }).click()
    await stranger.page.getByRole("heading", { name: "This is not allowed" }).waitFor()
    await stranger.page.goto(`${berth.url}/hub/listings`)
    await stranger.page.getByText("You have no business yet").waitFor()
    for (
      const [path, status, title] of [
        [listingId, 403, "This is not allowed"],
        ["01J00000000000000000000000", 404, "There is nothing here"],
        ["x", 400, "This request is not valid"],
        [`${listingId}?period=1d`, 400, "This request is not valid"]
      ] as const
    ) {
      const answer = await stranger.page.goto(`${berth.url}/hub/listings/${path}`)
      expect(answer?.status(), path).toBe(status)
      expect(await stranger.page.getByRole("heading", { level: 1 }).innerText()).toBe(title)
    }
  })

  for (const { colorScheme, look, viewport } of looks) {
    it(`${look}: nothing scrolls sideways, and axe finds no fault`, { timeout: 60_000 }, async () => {
      const { page } = await visit({ viewport, colorScheme, javaScriptEnabled: true })
      await signIn(page)
      for (const path of ["", `/${listingId}?period=7d`, `/${listingId}`, `/${listingId}?period=90d`]) {
        await page.goto(`${berth.url}/hub/listings${path}`)
        if (path.endsWith("7d")) await page.getByText("Each day in numbers").click()
        await expectGoodLooks(page, `listing${path.replaceAll(/\W+/g, "-").replace(listingId, "")}-${look}`)
      }
    })
  }
})
