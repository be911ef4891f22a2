import { beforeAll, describe, expect, it } from "vitest"
import { type Account, newEmail, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { describeWhen, missingProgram, soak } from "../support/needs.ts"
import { authorizePath, registerClient } from "../support/pages.ts"
import { useChromium, type Visitor } from "./chromium.ts"
import { useCallback } from "./client.ts"
import { expectGoodLooks, faultsOn } from "./looks.ts"

const password = "correct horse battery"

describeWhen(missingProgram("chromium"), "the pages in Chromium", () => {
  const berth = useBerth()
  const visit = useChromium()
  const callback = useCallback()
  let owner: Account
  let server: Server

  beforeAll(async () => {
    owner = await berth.signUp("enterprise")
    server = await owner.server((await owner.project()).id, { name: "Trattoria menu" })
  })

  /** The URL that a client sends its user to. */
  const asking = async (redirectUri: string, name = "Desk Agent") => {
    const clientId = await registerClient(berth, name, redirectUri)
    const fields = { client_id: clientId, redirect_uri: redirectUri, resource: server.publicUrl, state: "s" }
    return `${berth.url}${authorizePath({ ...fields, scope: "mcp:read mcp:execute offline_access" })}`
  }
  const onThisMachine = (path: string) => asking(`${callback.origin()}${path}`)

  /** Signs a new user in, and gives its e-mail address. */
  const signIn = async ({ page }: Visitor, url: string) => {
    const { email } = await berth.signUp()
    await page.goto(url)
    await page.getByLabel("E-mail address").fill(email)
    await page.getByLabel("Password").fill(password)
    await page.getByRole("button", { name: "Sign in" }).click()
    return email
  }

  describe("without scripts", () => {
    it("and by keyboard alone a newcomer signs up, allows, and is back at the client with a code", async () => {
      const { complaints, page } = await visit()
      await page.goto(await onThisMachine("/newcomer"))
      expect(await page.title()).toBe("Sign in – Berth")
      expect(await page.locator(":focus").getAttribute("name")).toBe("email")
      await page.getByRole("link", { name: "Create one" }).press("Enter")
      await page.getByRole("heading", { level: 1, name: "Create an account" }).waitFor()
      await page.keyboard.type("Ada")
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
      expect([back.get("state"), back.get("iss"), back.get("code")?.length]).toEqual(["s", berth.url, 43])
      expect(complaints).toEqual([])
    })

    it("a user denies, and the client is told", async () => {
      const visitor = await visit()
      await signIn(visitor, await onThisMachine("/denied"))
      await visitor.page.getByRole("button", { name: "Deny" }).click()
      await visitor.page.waitForURL(`${callback.origin()}/denied?**`)
      expect(new URL(visitor.page.url()).searchParams.get("error")).toBe("access_denied")
      expect(visitor.complaints).toEqual([])
    })

    it("a visitor is led back from a request that is wrong by nobody but themselves", async () => {
      const { complaints, page } = await visit()
      await page.goto(`${await onThisMachine("/lured")}&code_challenge_method=plain`)
      await page.getByRole("heading", { level: 1, name: "This request can't go on" }).waitFor()
      await page.getByText("Desk Agent sent you here with a request that is not valid").waitFor()
      await page.getByRole("link", { name: /^Return to 127\.0\.0\.1:\d+, a program on this device$/ }).click()
      await page.waitForURL(`${callback.origin()}/lured?**`)
      expect(new URL(page.url()).searchParams.get("error")).toBe("invalid_request")
      expect(complaints).toEqual([])
    })

    it("a user changes to another account", async () => {
      const visitor = await visit()
      const url = await onThisMachine("/switched")
      const first = await signIn(visitor, url)
      const { page } = visitor
      await page.getByText(first).waitFor()
      await page.getByRole("link", { name: "Use another account" }).click()
      await page.getByText(`You are signed in as ${first}`).waitFor()
      const second = await berth.signUp()
      await page.getByLabel("E-mail address").fill(second.email)
      await page.getByLabel("Password").fill(password)
      await page.keyboard.press("Enter")
      await page.getByText(second.email).waitFor()
      await page.getByRole("button", { name: "Allow" }).click()
      await page.waitForURL(`${callback.origin()}/switched?**`)
      expect(new URL(page.url()).searchParams.has("code")).toBe(true)
    })

    it("a user revokes what it allowed", async () => {
      const visitor = await visit()
      const { page } = visitor
      await signIn(visitor, await onThisMachine("/revoked"))
      await page.getByRole("button", { name: "Allow" }).click()
      await page.waitForURL(`${callback.origin()}/revoked?**`)
      await page.goto(`${berth.url}/oauth/grants`)
      await page.getByRole("heading", { level: 2, name: "Desk Agent" }).waitFor()
      await page.getByRole("button", { name: "Revoke" }).click()
      await page.getByRole("status").waitFor()
      await page.getByText("No application may act for you").waitFor()
      await page.getByRole("button", { name: "Sign out" }).click()
      await page.getByRole("heading", { name: "Sign in" }).waitFor()
      expect(visitor.complaints).toEqual([])
    })
  })

  describe("the policy on forms lets the answer through", () => {
    it("to a callback that leads on to another origin", async () => {
      const visitor = await visit()
      await signIn(visitor, await onThisMachine("/hop"))
      await visitor.page.getByRole("button", { name: "Allow" }).click()
      await visitor.page.waitForURL("http://localhost:*/landed?**")
      expect(visitor.complaints).toEqual([])
    })

    it("to an app, at once and by way of a web page", async () => {
      for (const redirectUri of ["com.example.editor:/callback", `${callback.origin()}/app`]) {
        const visitor = await visit()
        const opened = visitor.page.waitForRequest(/^com\.example\.editor:/)
        await signIn(visitor, await asking(redirectUri))
        await visitor.page.getByRole("button", { name: "Allow" }).click()
        expect((await opened).url()).toMatch(/^com\.example\.editor:\/\w+\?code=/)
        expect(visitor.complaints).toEqual([])
      }
    })

    it("to a client that was allowed before, right after the sign-in", async () => {
      const url = await asking("https://agent.invalid/callback")
      const first = await visit()
      const email = await signIn(first, url)
      const sent = first.page.waitForRequest(/^https:\/\/agent\.invalid\/callback\?code=/)
      await first.page.getByRole("button", { name: "Allow" }).click()
      await sent
      const second = await visit()
      const again = second.page.waitForRequest(/^https:\/\/agent\.invalid\/callback\?code=/)
      await second.page.goto(url)
      await second.page.getByLabel("E-mail address").fill(email)
      await second.page.getByLabel("Password").fill(password)
      await second.page.getByRole("button", { name: "Sign in" }).click()
      await again
    })

    it("and keeps a page of elsewhere from framing anything of ours", async () => {
      const { page } = await visit()
      await page.goto(`${callback.origin()}/frame`)
      const ours = ["/oauth/sign-in", "/docs", "/", "/v1/health"].map((path) => berth.url + path)
      const framed = [`${callback.origin()}/framed`, ...ours]
      await page.setContent(framed.map((url) => `<iframe src="${url}"></iframe>`).join(""), { waitUntil: "load" })
      const urls = page.frames().map((frame) => frame.url())
      expect(framed.map((url) => urls.includes(url))).toEqual([true, ...ours.map(() => false)])
    })
  })

  describe("what is wrong", () => {
    it("is announced, has the focus, and leads to its field", async () => {
      const { page } = await visit({ javaScriptEnabled: true })
      await page.goto(`${berth.url}/oauth/sign-up`)
      await page.getByLabel("E-mail address").fill(owner.email)
      await page.getByLabel("Password").fill(password)
      await page.getByRole("button", { name: "Create account" }).click()
      const alert = page.getByRole("alert")
      await alert.waitFor()
      expect(await page.title()).toBe("Error: Create an account – Berth")
      expect(await alert.evaluate((element) => element.ownerDocument.activeElement === element)).toBe(true)
      await page.keyboard.press("Tab")
      await page.keyboard.press("Enter")
      const email = page.getByLabel("E-mail address")
      expect(await email.evaluate((element) => element.ownerDocument.activeElement === element)).toBe(true)
      expect(await email.getAttribute("aria-invalid")).toBe("true")
    })
  })

  describe("on every screen", () => {
    const screens = { phone: { width: 320, height: 640 }, desktop: { width: 1280, height: 800 } } as const

    it("axe would find a fault", async () => {
      const { page } = await visit({ javaScriptEnabled: true })
      await page.setContent("<h1 style='color:#999;background:#fff'>Faint</h1><input>")
      expect((await faultsOn(page)).map(([id]) => id)).toEqual(expect.arrayContaining(["color-contrast", "label"]))
    })

    const pairs = [["phone", "dark"], ["desktop", "light"], ["phone", "light"], ["desktop", "dark"]] as const
    // Colours are the same on each screen, and the layout is the same in all colours: each is looked at once.
    for (const [screen, colorScheme] of soak ? pairs : pairs.slice(0, 2)) {
      const viewport = screens[screen]
      it(
        `${screen}, ${colorScheme}: nothing scrolls sideways, and axe finds no fault`,
        { timeout: 60_000 },
        async () => {
          const name = (page: string) => `${page}-${screen}-${colorScheme}`
          const visitor = await visit({ viewport, colorScheme, javaScriptEnabled: true })
          const { page } = visitor
          const url = await asking(`${callback.origin()}/seen`, `Desk Agent ${"of the Long Name ".repeat(12)}`)
          await page.goto(url)
          await expectGoodLooks(page, name("sign-in"))
          await page.getByLabel("E-mail address").fill("nobody@example.com")
          await page.getByLabel("Password").fill("wrong")
          await page.getByRole("button", { name: "Sign in" }).click()
          await page.getByRole("alert").waitFor()
          await expectGoodLooks(page, name("sign-in-fault"))
          await page.getByRole("link", { name: "Create one" }).click()
          await expectGoodLooks(page, name("sign-up"))
          await page.getByLabel("E-mail address").fill(owner.email)
          await page.getByLabel("Password").fill(password)
          await page.getByRole("button", { name: "Create account" }).click()
          await page.getByRole("alert").waitFor()
          await expectGoodLooks(page, name("sign-up-fault"))
          await signIn(visitor, url)
          await page.getByRole("button", { name: "Allow" }).waitFor()
          await expectGoodLooks(page, name("consent"))
          await page.getByRole("button", { name: "Allow" }).click()
          await page.waitForURL(`${callback.origin()}/seen?**`)
          await page.goto(`${berth.url}/oauth/grants`)
          await expectGoodLooks(page, name("grants"))
          await page.getByRole("button", { name: "Revoke" }).click()
          await page.getByRole("status").waitFor()
          await expectGoodLooks(page, name("revoked"))
          await page.goto(`${berth.url}/api/v1/oauth/authorize?client_id=client_unknown`)
          await expectGoodLooks(page, name("error"))
          const closed = await owner.server((await owner.project()).id, { name: "Staff only" })
          await owner.put(`/v1/servers/${closed.id}/auth`, { authMode: "service_managed", access: "owner" })
          await page.goto(url.replace(encodeURIComponent(server.publicUrl), encodeURIComponent(closed.publicUrl)))
          await page.getByRole("button", { name: "Go back" }).waitFor()
          await expectGoodLooks(page, name("refused"))
        }
      )
    }
  })
})
