import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core"
import { afterAll, beforeAll } from "vitest"
import { freshAddress } from "../support/http.ts"

/** No talk with anybody but the pages under test. */
const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync"
]

/** A visitor's browser: a page of its own, and what its console says a policy of ours stopped. */
export interface Visitor {
  readonly context: BrowserContext
  readonly page: Page
  readonly complaints: ReadonlyArray<string>
}

/** One Chromium for the tests of a file. */
export const useChromium = () => {
  let browser: Browser | undefined
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args })
  })
  afterAll(() => browser?.close())

  /** A new visitor without cookies, at an address of its own. */
  return async (options: BrowserContextOptions = {}): Promise<Visitor> => {
    if (browser === undefined) throw new Error("the browser has not started")
    const context = await browser.newContext({
      // Scripts off by default: the pages need none.
      javaScriptEnabled: false,
      extraHTTPHeaders: { "x-forwarded-for": freshAddress() },
      ...options
    })
    const page = await context.newPage()
    page.setDefaultTimeout(15_000)
    const complaints: Array<string> = []
    page.on("console", (message) => {
      // What a policy of ours stopped; a lost favicon or a busy network is none of the pages' doing.
      if (/Content Security Policy|Refused to|Mixed Content/i.test(message.text())) complaints.push(message.text())
    })
    return { context, page, complaints }
  }
}
