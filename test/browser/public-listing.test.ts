import { beforeAll, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Business } from "../support/business.ts"
import { newCategory, newItem } from "../support/catalog.ts"
import { shownBusiness } from "../support/directory-door.ts"
import { describeWhen, missingProgram } from "../support/needs.ts"
import { useChromium } from "./chromium.ts"
import { expectGoodLooks, looks } from "./looks.ts"

const name = "Rosa's </script><script>document.title='owned'</script> Trattoria"

describeWhen(missingProgram("chromium"), "the page of a listing in Chromium", () => {
  const berth = useBerth()
  const visit = useChromium()
  let owner: Account
  let business: Business
  let address = ""

  beforeAll(async () => {
    owner = await berth.signUp("enterprise")
    const { id: projectId } = await owner.project()
    const server = await owner.server(projectId, { slug: "rosa" })
    business = await shownBusiness(owner, { projectId, name, templateType: "restaurant" }, {
      serverId: server.id,
      description: "Wood fire, and dough of three days. ".repeat(6),
      contact: {
        phone: "+1 555 0100",
        website: `https://rosa.example/${"a-very-long-path".repeat(12)}`,
        address: { line1: "1 Main St", city: "Denver", state: "CO", zip: "80202" }
      },
      hours: { monday: "closed", friday: { open: "10:00", close: "02:00" } }
    })
    const { id: categoryId } = await newCategory(owner, business.id, { name: "Pizza" })
    for (const priceCents of [899, null, 1250]) {
      await newItem(owner, business.id, {
        name: `Pizza ${"Quattro".repeat(priceCents === null ? 14 : 1)}`,
        description: "Tomato, mozzarella.",
        priceCents,
        categoryId
      })
    }
    address = `${berth.url}/listings/${business.slug}`
  })

  it("is read by headings, works by keyboard, and runs nothing that a business wrote", async () => {
    const { complaints, page } = await visit({ javaScriptEnabled: true })
    await page.goto(address)
    expect(await page.title()).toMatch(/^Rosa's <\/script><script>.*Denver, CO – Berth$/)
    const headings = await page.locator("h1,h2,h3").allInnerTexts()
    expect(headings).toEqual([name, "Menu", "Pizza", "Hours", "Contact", "For AI agents"])
    expect(await page.getByRole("listitem").filter({ hasText: "$8.99" }).count()).toBe(1)
    expect(await page.getByRole("row").allInnerTexts()).toEqual([
      expect.stringMatching(/Day\s+Open/),
      expect.stringMatching(/Monday\s+closed/),
      expect.stringMatching(/Friday\s+10:00 to 02:00 the day after/)
    ])
    const focused: Array<string | null> = []
    for (let n = 0; n < 3; n++) {
      await page.keyboard.press("Tab")
      focused.push(await page.evaluate<string | null>("document.activeElement.getAttribute('href')"))
    }
    expect(focused).toEqual([
      "tel:+15550100",
      `${berth.url}/api/v1/hub/listings/${business.listingId}/referral`,
      `${berth.url}/api/v1/hub/listings/${business.listingId}/skill.md`
    ])
    await page.getByText(`${berth.url}/s/rosa/mcp`).waitFor()
    expect(complaints).toEqual([])
  })

  it("is a page for people where there is none", async () => {
    const { page } = await visit()
    const answer = await page.goto(`${berth.url}/listings/nobody`)
    expect(answer?.status()).toBe(404)
    await page.getByRole("heading", { level: 1, name: "There is nothing here" }).waitFor()
  })

  for (const { colorScheme, look, viewport } of looks) {
    it(`${look}: nothing scrolls sideways, and axe finds no fault`, { timeout: 60_000 }, async () => {
      const { page } = await visit({ viewport, colorScheme, javaScriptEnabled: true })
      await page.goto(address)
      await expectGoodLooks(page, `public-listing-${look}`)
    })
  }
})
