import IconEye from 'icon:eye';
import IconEyeOff from 'icon:eye-off';
import { Code, Text } from '@mantine/core';
import { useState } from 'react';
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
  // An open dialog keeps its action: somebody else may whitelist the indicator, or remove the entry, meanwhile.
  const [opened, setOpened] = useState(suppressedBy);
  if (suppressedBy && suppressedBy.entryId === null) return null;
  const entryId = opened?.entryId;
  return (
    <ConfirmButton
      button={{
        size: 'xs',
        leftSection: suppressedBy ? <IconEye size={14} /> : <IconEyeOff size={14} />,
        children: suppressedBy ? 'Remove from whitelist' : 'Whitelist',
        onClick: () => setOpened(suppressedBy),
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
            Indicators that only the entry <Code className="value">{visibleText(opened?.entry ?? '')}</Code>{' '}
            hides become visible again at once, unless they have expired.
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
