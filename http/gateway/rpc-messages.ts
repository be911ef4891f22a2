import { createParser } from "eventsource-parser"

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const parsed = (text: string): ReadonlyArray<Readonly<Record<string, unknown>>> => {
  try {
    const value: unknown = JSON.parse(text)
    if (isRecord(value)) return [value]
    return Array.isArray(value) ? value.filter(isRecord) : []
  } catch {
    return []
  }
}

/** The messages of a JSON-RPC body, a batch or a single one, or of an event stream; none in anything else. */
export const messagesIn = (body: string, isStream = false): ReadonlyArray<Readonly<Record<string, unknown>>> => {
  if (!isStream) return parsed(body)
  const events: Array<string> = []
  createParser({ onEvent: ({ data }) => void events.push(data) }).feed(body)
  return events.flatMap(parsed)
}
