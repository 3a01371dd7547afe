// `@fetchwork/service/test`: a service in memory, for tests.
export {
  type TestClient,
  type TestService,
  testService,
  type TestServiceOptions,
} from "./test-service.ts";
