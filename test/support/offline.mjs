// For a program of others: whatever it asks of another machine fails, and is told on stderr.
const { fetch } = globalThis
Object.assign(globalThis, {
  fetch: (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    if (url.hostname === "127.0.0.1") return fetch(input, init)
    process.stderr.write(`offline: ${url}\n`)
    return Promise.reject(new TypeError("fetch failed"))
  }
})
