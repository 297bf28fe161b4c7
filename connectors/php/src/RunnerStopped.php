<?php

declare(strict_types=1);

namespace SiteConnector;

/** Another runner has taken over, so that this one must neither go on nor report. */
final class RunnerStopped extends \RuntimeException
{
}
