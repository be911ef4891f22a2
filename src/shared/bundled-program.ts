import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

/** The path of a program that `npm run build` makes: next to this code when it runs from dist/, else in dist/. */
export const bundledProgram = (name: string): string => {
  const candidates = [name, `../../dist/${name}`].map((place) => fileURLToPath(new URL(place, import.meta.url)))
  const found = candidates.find((place) => existsSync(place))
  if (found === undefined) throw new Error(`dist/${name} is not there: run npm run build first`)
  return found
}
