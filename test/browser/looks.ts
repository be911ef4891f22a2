import axe, { type AxeResults } from "axe-core"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { type Page } from "playwright-core"
import { expect } from "vitest"

/** Where to leave pictures of the pages, for eyes; nowhere unless asked. */
const pictures = process.env["PAGES_SCREENSHOTS"]
const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

const screens = {
  phone: { width: 390, height: 844 },
  narrow: { width: 320, height: 640 },
  desktop: { width: 1280, height: 800 }
}

/** Every screen in both colour schemes, by a name for tests and pictures. */
export const looks = Object.entries(screens).flatMap(([screen, viewport]) =>
  (["light", "dark"] as const).map((colorScheme) => ({ look: `${screen}-${colorScheme}`, viewport, colorScheme }))
)

/** What axe finds: its rule, and where. */
export const faultsOn = async (page: Page) => {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(document, { runOnly: ${JSON.stringify(rules)} })`
  )
  return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])
}

/** Fails when the page scrolls sideways or axe finds a fault; leaves a picture of that name where one is asked for. */
export const expectGoodLooks = async (page: Page, picture: string) => {
  const wide = await page.evaluate<boolean>(
    "[...document.querySelectorAll('html,main')].some((element) => element.scrollWidth > element.clientWidth)"
  )
  expect(wide, `${picture} scrolls sideways`).toBe(false)
  expect(await faultsOn(page), picture).toEqual([])
  if (pictures === undefined) return
  mkdirSync(pictures, { recursive: true })
  await page.screenshot({ path: join(pictures, `${picture}.png`), fullPage: true })
}
