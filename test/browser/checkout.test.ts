import { beforeAll, describe, expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { checkoutPath, statusOf } from "../support/checkout.ts"
import { describeWhen, missingProgram } from "../support/needs.ts"
import { useChromium } from "./chromium.ts"
import { expectGoodLooks, looks } from "./looks.ts"

describeWhen(missingProgram("chromium"), "the checkout page in Chromium", () => {
  const berth = useBerth()
  const visit = useChromium()
  let start: (plan?: string) => Promise<{ account: Awaited<ReturnType<typeof berth.signUp>>; url: string }>

  beforeAll(() => {
    start = async (plan = "developer") => {
      const account = await berth.signUp()
      return { account, url: `${berth.url}${await checkoutPath(berth, account, plan)}` }
    }
  })

  it("is paid by keyboard alone and without scripts, and leads back", async () => {
    const { account, url } = await start()
    const { complaints, page } = await visit()
    await page.goto(url)
    expect(await page.title()).toBe("Pay for the Developer plan – Berth")
    await page.getByText("No money moves here").waitFor()
    await page.getByText("29 USD a month").waitFor()
    // The choice of renewals, then the first button.
    await page.keyboard.press("Tab")
    expect(await page.locator(":focus").getAttribute("name")).toBe("renewals")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { level: 1, name: "You are on the Developer plan" }).waitFor()
    expect(new URL(page.url()).pathname).toMatch(/^\/billing\/return\//)
    expect([await statusOf(account), complaints]).toEqual(["developer active", []])
    await page.goBack()
    await page.reload()
    await page.getByRole("heading", { level: 1, name: "You are on the Developer plan" }).waitFor()
  })

  it("is declined, with a fault that is announced, and paid then with a trial", async () => {
    const { account, url } = await start("pro")
    const { complaints, page } = await visit({ javaScriptEnabled: true })
    await page.goto(url)
    await page.getByLabel("Begin with a week of trial").check()
    await page.getByRole("button", { name: "Decline" }).click()
    const alert = page.getByRole("alert")
    await alert.waitFor()
    expect(await alert.evaluate((element) => element.ownerDocument.activeElement === element)).toBe(true)
    expect(await page.title()).toBe("Error: Pay for the Pro plan – Berth")
    expect(await page.getByLabel("Begin with a week of trial").isChecked()).toBe(true)
    expect(await statusOf(account)).toBe("free active")
    await page.getByRole("button", { name: "Subscribe" }).click()
    await page.getByRole("heading", { level: 1, name: "You are on the Pro plan" }).waitFor()
    await page.getByText(/^This is a trial: from .* on it costs 99 USD a month\.$/).waitFor()
    expect([await statusOf(account), complaints]).toEqual(["pro trialing", []])
  })

  it("is left, and can be paid later", async () => {
    const { account, url } = await start()
    const { page } = await visit()
    await page.goto(url)
    await page.getByRole("button", { name: "Cancel" }).click()
    await page.getByRole("heading", { level: 1, name: "Nothing was paid" }).waitFor()
    expect(await statusOf(account)).toBe("free active")
    await page.getByRole("link", { name: "Back to the payment" }).press("Enter")
    await page.getByRole("button", { name: "Subscribe" }).waitFor()
    expect(page.url()).toBe(url)
  })

  describe("on every screen", () => {
    for (const { colorScheme, look, viewport } of looks) {
      it(`${look}: nothing scrolls sideways, and axe finds no fault`, { timeout: 60_000 }, async () => {
        const { page } = await visit({ viewport, colorScheme, javaScriptEnabled: true })
        const { account, url } = await start("enterprise")
        await page.goto(url)
        await expectGoodLooks(page, `checkout-${look}`)
        await page.getByRole("button", { name: "Decline" }).click()
        await page.getByRole("alert").waitFor()
        await expectGoodLooks(page, `checkout-declined-${look}`)
        await page.getByRole("button", { name: "Cancel" }).click()
        await page.getByRole("heading", { name: "Nothing was paid" }).waitFor()
        await expectGoodLooks(page, `checkout-left-${look}`)
        const back = page.url()
        await page.goto(back.replace("?canceled", ""))
        await expectGoodLooks(page, `checkout-waiting-${look}`)
        await account.post("/v1/billing/subscribe", { plan: "pro" })
        await page.goto(url)
        await expectGoodLooks(page, `checkout-closed-${look}`)
        await page.goto(`${berth.url}${await checkoutPath(berth, account, "pro")}`)
        await page.getByLabel("The first renewal is declined, and the").check()
        await page.getByRole("button", { name: "Subscribe" }).click()
        await page.getByRole("heading", { name: "You are on the Pro plan" }).waitFor()
        await expectGoodLooks(page, `checkout-paid-${look}`)
        await account.delete("/v1/billing/subscribe")
        await page.reload()
        await page.getByText(/The subscription was canceled/).waitFor()
        await expectGoodLooks(page, `checkout-canceled-${look}`)
      })
    }
  })
})
