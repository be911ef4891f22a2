import { isException, isPublicAddress } from "#src/shared/private-addresses.ts"
import { describe, expect, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { isIPv4 } from "node:net"

describe("a public address", () => {
  it.each(["1.1.1.1", "8.8.8.8", "172.15.255.255", "172.32.0.0", "100.63.255.255", "100.128.0.0", "223.255.255.255"])(
    "%s",
    (address) => expect(isPublicAddress(address)).toBe(true)
  )
  it.each(["2606:4700::1111", "2001:4860:4860::8888", "2a00:1450::1", "2620:fe::fe"])(
    "%s",
    (address) => expect(isPublicAddress(address)).toBe(true)
  )
})

describe("an address that is not public", () => {
  it.each([
    ["this network", "0.0.0.0"],
    ["private", "10.0.0.1"],
    ["private", "172.16.0.1"],
    ["private", "172.31.255.255"],
    ["private", "192.168.1.1"],
    ["shared (CGNAT)", "100.64.0.1"],
    ["shared, Alibaba's metadata", "100.100.100.200"],
    ["loopback", "127.0.0.1"],
    ["loopback", "127.255.255.254"],
    ["link-local, metadata", "169.254.169.254"],
    ["protocol assignments, Oracle's metadata", "192.0.0.192"],
    ["Azure's metadata", "168.63.129.16"],
    ["documentation", "192.0.2.1"],
    ["documentation", "198.51.100.1"],
    ["documentation", "203.0.113.1"],
    ["6to4 relay", "192.88.99.1"],
    ["benchmarks", "198.19.255.255"],
    ["multicast", "224.0.0.1"],
    ["reserved", "240.0.0.1"],
    ["broadcast", "255.255.255.255"],
    ["unspecified", "::"],
    ["loopback", "::1"],
    ["IPv4-compatible", "::7f00:1"],
    ["IPv4-mapped loopback", "::ffff:127.0.0.1"],
    ["IPv4-mapped private", "::ffff:a00:1"],
    ["IPv4-mapped public", "::ffff:8.8.8.8"],
    ["NAT64 of a private one", "64:ff9b::10.0.0.1"],
    ["NAT64", "64:ff9b::808:808"],
    ["local NAT64", "64:ff9b:1::1"],
    ["discard", "100::1"],
    ["Teredo", "2001::1"],
    ["ORCHID", "2001:20::1"],
    ["documentation", "2001:db8::1"],
    ["documentation", "3fff::1"],
    ["6to4 of a private one", "2002:a00:1::1"],
    ["segment routing", "5f00::1"],
    ["unique local", "fc00::1"],
    ["unique local, metadata", "fd00:ec2::254"],
    ["link-local", "fe80::1"],
    ["link-local with a zone", "fe80::1%eth0"],
    ["global with a zone", "2606:4700::1111%lo"],
    ["site-local", "fec0::1"],
    ["multicast", "ff02::1"],
    ["no address", "localhost"],
    ["no address", ""],
    ["octal", "0177.0.0.1"],
    ["short", "127.1"]
  ])("%s: %s", (_kind, address) => expect(isPublicAddress(address)).toBe(false))

  it("stays one however IPv6 carries it", () => {
    fc.assert(fc.property(fc.ipV4(), (v4) => {
      expect(isIPv4(v4)).toBe(true)
      const [a = 0, b = 0, c = 0, d = 0] = v4.split(".").map(Number)
      const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
      for (const carrier of [`::ffff:${v4}`, `::${hex}`, `64:ff9b::${hex}`, `2002:${hex}::1`, `::ffff:0:${hex}`]) {
        expect(isPublicAddress(carrier)).toBe(false)
      }
    }))
  })
})

describe("an exception of the operator", () => {
  const allowed = ["registry.internal:5000", "localhost", "[::1]:80"]
  it.each([
    ["http://registry.internal:5000/", true],
    ["https://REGISTRY.internal:5000/x", true],
    ["https://registry.internal/", false],
    ["https://registry.internal:5001/", false],
    ["https://localhost/", true],
    ["http://localhost:1234/", true],
    ["http://[::1]/", true],
    ["https://[::1]/", false],
    ["http://localhost.evil.example/", false],
    ["http://localhost@evil.example/", false],
    ["http://evil.example/localhost", false]
  ])("%s: %s", (url, expected) => expect(isException(new URL(url), allowed)).toBe(expected))
})
