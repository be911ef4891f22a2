import { expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { describeWhen, missingProgram } from "../support/needs.ts"
import { useChromium } from "./chromium.ts"

describeWhen(missingProgram("chromium"), "the documentation in Chromium", () => {
  const berth = useBerth()
  const visit = useChromium()

  it("is read, and a request tried from it, under its policy; nobody else is asked", async () => {
    const { complaints, page } = await visit({ javaScriptEnabled: true })
    page.setDefaultTimeout(60_000)
    const elsewhere: Array<string> = []
    const faults: Array<string> = []
    page.on("request", (request) => {
      if (!request.url().startsWith(berth.url) && !/^(data|blob):/.test(request.url())) elsewhere.push(request.url())
    })
    page.on("pageerror", (error) => faults.push(String(error)))
    await page.goto(`${berth.url}/docs#tag/health`)
    await page.getByRole("heading", { name: "Health" }).first().waitFor()
    await page.getByRole("button", { name: /^Test Request/ }).first().click()
    const answered = page.waitForResponse((response) => response.url() === `${berth.url}/v1/health`)
    await page.getByRole("button", { name: /^Send/ }).first().click()
    expect((await answered).status()).toBe(200)
    expect({ complaints, elsewhere, faults }).toEqual({ complaints: [], elsewhere: [], faults: [] })
  }, 180_000)
})
