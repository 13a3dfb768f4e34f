import {describe, expect, test} from 'vitest';
import {readGatewayConfig} from './gateway.ts';

const least = {
  CARREL_KUBECONFIG: '/kubeconfig',
  CARREL_RELEASE_NAMESPACE: 'carrel-system',
  CARREL_ARCHIVE_URL: 'http://carrel-archive:8080',
};

describe('settings of the gateway', () => {
  test('its own Service names pass the Host check without further settings', () => {
    const {allowlists, askWaitMs, ports} = readGatewayConfig({...least, CARREL_ALLOWED_HOSTS: ' Carrel.Example , '});
    expect(allowlists.hosts).toContain('carrel-gateway.carrel-system.svc.cluster.local');
    expect(allowlists.hosts).toContain('carrel.example');
    expect(allowlists.origins).toEqual([]);
    expect([askWaitMs, ports.main, ports.canary, ports.health]).toEqual([50_000, 8080, 8081, 8082]);
  });

  test('everything that is wrong is named at once', () => {
    const wrong = {CARREL_KUBECONFIG: '/k', CARREL_ARCHIVE_URL: 'ftp://x', CARREL_ASK_WAIT_MS: '60000'};
    expect(() => readGatewayConfig(wrong)).toThrow(
      /CARREL_RELEASE_NAMESPACE[\s\S]*CARREL_ARCHIVE_URL[\s\S]*CARREL_ASK_WAIT_MS/,
    );
  });
});
