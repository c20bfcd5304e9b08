import IconEye from 'icon:eye';
import IconEyeOff from 'icon:eye-off';
import { Code, Text } from '@mantine/core';
import { visibleText } from '../../../../src/model/visible-text.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { plural } from '../../parts/format.ts';
import type { IndicatorDetail } from './indicator-detail.ts';

/** A button that whitelists an indicator, or removes the whitelist entry of an analyst that hides it. */
export function WhitelistButton({
  indicator: { id, suppressedBy, defanged },
}: {
  indicator: IndicatorDetail;
}) {
  if (suppressedBy && suppressedBy.entryId === null) return null;
  const entryId = suppressedBy?.entryId;
  return (
    <ConfirmButton
      button={{
        size: 'xs',
        leftSection: entryId ? <IconEye size={14} /> : <IconEyeOff size={14} />,
        children: entryId ? 'Remove from whitelist' : 'Whitelist',
      }}
      title={entryId ? 'Remove from whitelist' : 'Add to whitelist'}
      action={entryId ? 'Remove' : 'Whitelist'}
      color={entryId ? 'indigo' : 'red.9'}
      operation={entryId ? 'POST /app/whitelist/:id/remove' : 'POST /app/indicators/:id/whitelist'}
      request={(reason) => ({ params: { id: entryId ?? id }, body: { reason } })}
      onSuccess={({ changed }) =>
        entryId
          ? `Taken back: ${plural(changed, 'indicator')} shown again.`
          : `Whitelisted. ${plural(changed, 'indicator')} hidden.`
      }
    >
      <Text size="sm">
        {entryId ? (
          <>
            Indicators that only the entry{' '}
            <Code className="value">{visibleText(suppressedBy?.entry ?? '')}</Code> hides become visible again
            at once, unless they have expired.
          </>
        ) : (
          <>
            <Code className="value">{visibleText(defanged)}</Code> and the indicators that it covers leave the
            API, exports and rules at once.
          </>
        )}
      </Text>
    </ConfirmButton>
  );
}
