import { redact } from "#src/shared/redact.ts"
import { newKey } from "#src/shared/tokens.ts"
import { assert, describe, it } from "vitest"

const jwt = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1In0.c2lnbmF0dXJl"

describe("what a log never shows", () => {
  for (
    const [what, secret, hidden = secret.slice(-12)] of [
      ["a live key", newKey("svc_live_")],
      ["a test key", newKey("svc_test_")],
      ["a hub key", newKey("hub_live_")],
      ["a session token", "svc_sess_sL-jrs_xyZHb_qnRyg6ARDPpSHp3rsUkiEip9p3zwXw"],
      ["an access token", jwt],
      ["any bearer token", "Bearer abc.def~ghi+/=="],
      ["a password in a URL", "postgres://berth:hunter2@db.internal/berth", "hunter2"]
    ] as ReadonlyArray<[string, string, string?]>
  ) {
    it(`${what} is masked, the words around it stay`, () => {
      const masked = redact(`before ${secret} after`)
      assert.match(masked, /^before .*… ?.*after$|^before \(JWT\) after$/)
      assert.notInclude(masked, hidden)
    })
  }

  it("text without secrets is left as it is", () => {
    const text = "Deployment 1: the image is sha256:abcdef (39.7 MB) at http://localhost:8787/s/x"
    assert.strictEqual(redact(text), text)
  })
})
