import { beforeAll, describe, expect, it } from "vitest"
import { type Account, newEmail, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { describeWhen, missingProgram } from "../support/needs.ts"
import { useChromium } from "./chromium.ts"
import { authorizePath, register, useCallback } from "./client.ts"

describeWhen(missingProgram("chromium"), "the pages in Chromium", () => {
  const berth = useBerth()
  const visit = useChromium()
  const callback = useCallback()
  const password = "correct horse battery"
  let owner: Account
  let server: Server

  beforeAll(async () => {
    owner = await berth.signUp("enterprise")
    server = await owner.server((await owner.project()).id, { name: "Trattoria menu" })
  })

  const ask = async (path: string, name = "Desk Agent") => {
    const redirectUri = `${callback.origin()}${path}`
    const clientId = await register(berth, name, redirectUri)
    return `${berth.url}${authorizePath({ clientId, redirectUri, resource: server.publicUrl, state: `s-${path}` })}`
  }

  describe("without scripts and by keyboard alone", () => {
    it("a newcomer signs up, allows, and is back at the client with a code", async () => {
      const { complaints, page } = await visit()
      await page.goto(await ask("/newcomer"))
      expect(await page.title()).toBe("Sign in – Berth")
      await page.getByRole("link", { name: "Create one" }).press("Enter")
      await page.getByLabel("Name").fill("Ada")
      await page.keyboard.press("Tab")
      await page.keyboard.type(newEmail())
      await page.keyboard.press("Tab")
      await page.keyboard.type(password)
      await page.keyboard.press("Tab")
      await page.keyboard.press("Enter")
      await page.getByRole("heading", { level: 1, name: "Allow Desk Agent to use Trattoria menu?" }).waitFor()
      await page.getByRole("button", { name: "Allow" }).press("Enter")
      await page.waitForURL(`${callback.origin()}/newcomer?**`)
      const back = new URL(page.url()).searchParams
      expect([back.get("state"), back.get("iss"), back.get("code")?.length]).toEqual(["s-/newcomer", berth.url, 43])
      expect(complaints).toEqual([])
    })
  })
})
