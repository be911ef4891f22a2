import { type Page } from "playwright-core"
import { newEmail } from "../support/account.ts"

export interface Credentials {
  readonly email: string
  readonly password: string
}

/** Generous: a busy machine renders late. */
const patience = { timeout: 60_000 }

/** Follows a client's link to the platform, and makes an account on the way. */
export const signUp = async (page: Page, url: string): Promise<Credentials> => {
  const credentials = { email: newEmail(), password: "correct horse battery" }
  await page.goto(url, patience)
  await page.getByRole("link", { name: "Create one" }).click(patience)
  await page.getByLabel("E-mail address").fill(credentials.email, patience)
  await page.getByLabel("Password").fill(credentials.password)
  await page.getByRole("button", { name: "Create account" }).click(patience)
  return credentials
}

/** Follows a client's link to the platform, and signs in. */
export const signIn = async (page: Page, url: string, { email, password }: Credentials) => {
  await page.goto(url, patience)
  await page.getByLabel("E-mail address").fill(email, patience)
  await page.getByLabel("Password").fill(password)
  await page.getByRole("button", { name: "Sign in" }).click(patience)
}

/** Reads what is asked, allows it, and waits until the browser is back at the client; gives what was read. */
export const allow = async (page: Page) => {
  const button = page.getByRole("button", { name: "Allow" })
  await button.waitFor(patience)
  const read = await page.getByRole("main").innerText()
  const { origin } = new URL(page.url())
  await button.click(patience)
  await page.waitForURL((url) => url.origin !== origin, patience)
  return read
}
