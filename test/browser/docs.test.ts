import { expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { describeWhen, missingProgram } from "../support/needs.ts"
import { useChromium } from "./chromium.ts"
import { expectGoodLooks } from "./looks.ts"

describeWhen(missingProgram("chromium"), "the documentation in Chromium", () => {
  const berth = useBerth()
  const visit = useChromium()

  it("opens under 300 KB, and again for nearly nothing", async () => {
    const { context, page } = await visit({ javaScriptEnabled: true })
    const network = await context.newCDPSession(page)
    await network.send("Network.enable")
    let bytes = 0
    network.on("Network.loadingFinished", ({ encodedDataLength }) => bytes += encodedDataLength)
    await page.goto(`${berth.url}/docs`, { waitUntil: "networkidle" })
    expect(bytes).toBeGreaterThan(10_000)
    expect(bytes).toBeLessThan(300_000)
    bytes = 0
    await page.reload({ waitUntil: "networkidle" })
    expect(bytes).toBeLessThan(3_000)
  }, 180_000)

  it("is searched, and a request sent from it, under its policy; nobody else is asked", async () => {
    const { complaints, page } = await visit({ javaScriptEnabled: true })
    page.setDefaultTimeout(60_000)
    const elsewhere: Array<string> = []
    const faults: Array<string> = []
    page.on("request", (request) => {
      if (!request.url().startsWith(berth.url)) elsewhere.push(request.url())
    })
    page.on("pageerror", (error) => faults.push(String(error)))
    await page.goto(`${berth.url}/docs`)
    await page.getByLabel("Search operations").fill("create a server")
    const operation = page.locator("[id='servers.create']")
    await operation.waitFor()
    expect(await page.locator("[id='catalog.get']").isVisible()).toBe(false)
    expect(await page.getByRole("status").textContent()).toMatch(/^\d+ operations?$/)

    const owner = await berth.signUp()
    const project = await owner.project()
    await page.getByLabel("Key or session token").fill(owner.token)
    await operation.locator("summary").click()
    await operation.getByLabel("projectId").fill(project.id)
    await operation.getByLabel("Body", { exact: true }).fill("{\"name\": \"From the page\"}")
    await operation.getByRole("button", { name: "Send" }).click()
    await operation.getByText("201 Created").waitFor()
    expect(await operation.getByRole("region", { name: "Answer", exact: true }).textContent()).toContain(
      "From the page"
    )
    expect({ complaints, elsewhere, faults }).toEqual({ complaints: [], elsewhere: [], faults: [] })
  }, 180_000)

  it("is whole without its script", async () => {
    const { page } = await visit()
    await page.goto(`${berth.url}/docs#accounts.signUp`)
    const operation = page.locator("[id='accounts.signUp']")
    await operation.locator("summary").click()
    await operation.getByText("curl -s").waitFor()
    expect(await page.getByRole("button", { name: "Send" }).count()).toBe(0)
  }, 180_000)

  it("is readable on a narrow screen and to a screen reader", async () => {
    const { page } = await visit({ javaScriptEnabled: true, viewport: { width: 320, height: 640 } })
    await page.goto(`${berth.url}/docs#servers.update`)
    await page.locator("[id='servers.update']").getByText("curl -s").waitFor()
    // Every operation has the same parts, and axe takes long for all of them.
    await page.evaluate(
      "document.querySelectorAll('main section:not(:has([id=\"servers.update\"]))').forEach((one) => one.remove())"
    )
    await expectGoodLooks(page, "docs")
  }, 180_000)
})
